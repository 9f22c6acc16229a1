"""Making all ranks start from the same point: parameters, optimizer state and Python objects."""

import collections
import collections.abc
import io
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

import torch

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch._basics import rank, size
from horovod.torch._broadcast import broadcast_, broadcast_async_
from horovod.torch._flushing import flush_all
from horovod.torch._gather import allgather_async
from horovod.torch._handles import synchronize

Parameters = Union[Dict[str, torch.Tensor], Iterable[Any]]


def broadcast_parameters(params: Parameters, root_rank: int) -> None:
    """Gives the tensors of `root_rank` to all ranks, in place.

    `params`: model.state_dict(), or a list of tensors or (name, tensor) pairs.
    """
    flush_all()
    handles = [
        broadcast_async_(tensor, root_rank, name)
        for name, tensor in _named(params)
        if isinstance(tensor, torch.Tensor)
    ]
    for handle in handles:
        synchronize(handle)


def _named(params: Parameters) -> List[Tuple[Optional[str], Any]]:
    if isinstance(params, dict):
        return sorted(params.items())
    if isinstance(params, list):
        return [p if isinstance(p, tuple) else (None, p) for p in params]
    raise ValueError(
        f"invalid params of type {type(params).__name__}: expected a dict such as "
        "model.state_dict(), or a list; put list(...) around a generator"
    )


def broadcast_object(
    obj: Any,
    root_rank: int = 0,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> Any:
    """Gives any object of `root_rank` that can be pickled to all ranks, and returns it.

    `name` defaults to the type of the local object: give one where types differ between ranks.
    """
    name = name or type(obj).__name__
    payload = _pickled(obj) if rank() == root_rank else torch.empty(0, dtype=torch.uint8)
    length = torch.tensor([payload.numel()], dtype=torch.int64)
    broadcast_(length, root_rank, f"{name}.sz", process_set)
    if rank() != root_rank:
        payload = torch.empty(int(length.item()), dtype=torch.uint8)
    broadcast_(payload, root_rank, f"{name}.t", process_set)
    return obj if rank() == root_rank else _unpickled(payload)


def allgather_object(obj: Any, name: Optional[str] = None) -> List[Any]:
    """The objects of all ranks, in the order of ranks."""
    name = name or type(obj).__name__
    payload = _pickled(obj)
    lengths = synchronize(
        allgather_async(torch.tensor([payload.numel()], dtype=torch.int64), f"{name}.sz")
    )
    payloads = synchronize(allgather_async(payload, f"{name}.t"))
    return [_unpickled(one) for one in torch.split(payloads, lengths.tolist())]


def _pickled(obj: Any) -> torch.Tensor:
    import cloudpickle

    memory = io.BytesIO()
    cloudpickle.dump(obj, memory)
    return torch.frombuffer(memory.getbuffer(), dtype=torch.uint8)


def _unpickled(payload: torch.Tensor) -> Any:
    import cloudpickle

    return cloudpickle.loads(payload.numpy().tobytes())


class _TensorPlace(collections.abc.Hashable):
    """Stands for a tensor while the rest of a state travels as an object."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.shape, self.dtype = tensor.shape, tensor.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def fits(self, tensor: Any) -> bool:
        """Whether `tensor` can take the value in place."""
        return (
            isinstance(tensor, torch.Tensor)
            and tensor.shape == self.shape
            and tensor.dtype == self.dtype
            and tensor.is_contiguous()
        )


def broadcast_optimizer_state(
    optimizer: torch.optim.Optimizer, root_rank: int, model: Optional[torch.nn.Module] = None
) -> None:
    """Gives the state and the options of `root_rank`'s optimizer to all ranks.

    The root's own state is not touched; what it does not have yet, the others do not have after it.
    `model` is accepted as in Horovod and not needed.
    """
    if isinstance(optimizer, torch.optim.LBFGS):
        # Its state is spread over flat vectors that depend on the history of calls.
        raise ValueError("cannot broadcast torch.optim.LBFGS state")
    if size() == 1:
        return
    flush_all()
    at_root = rank() == root_rank
    outline = broadcast_object(
        _outline(optimizer) if at_root else None, root_rank, "optimizer_state"
    )
    if not at_root:
        _take_options(optimizer, outline["options"])
    handles = []
    seen: Dict[str, int] = collections.Counter()
    for place, (group, index, key) in _tensor_places(outline["state"]):
        state = optimizer.state[optimizer.param_groups[group]["params"][index]]
        seen[key] += 1
        name = f"{key}.{seen[key]}"
        if at_root:
            # A copy travels if the tensor itself can't be sent as it lies in memory.
            handles.append(broadcast_async_(state[key].contiguous(), root_rank, name))
            continue
        if not place.fits(state.get(key)):
            state[key] = torch.empty(place.shape, dtype=place.dtype)
        handles.append(broadcast_async_(state[key], root_rank, name))
    for handle in handles:
        synchronize(handle)
    if not at_root:
        _take_rest(optimizer, outline["state"])


State = List[List[Dict[str, Any]]]  # by group, then by parameter


def _outline(optimizer: torch.optim.Optimizer) -> Dict[str, Any]:
    """All options, and the state with places instead of tensors."""
    options = [
        {key: value for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
    ]
    state: State = [
        [
            {
                key: _TensorPlace(value) if isinstance(value, torch.Tensor) else value
                for key, value in optimizer.state.get(p, {}).items()
            }
            for p in group["params"]
        ]
        for group in optimizer.param_groups
    ]
    return {"options": options, "state": state}


def _tensor_places(state: State) -> List[Tuple[_TensorPlace, Tuple[int, int, str]]]:
    return [
        (value, (group, index, key))
        for group, parameters in enumerate(state)
        for index, entries in enumerate(parameters)
        for key, value in entries.items()
        if isinstance(value, _TensorPlace)
    ]


def _take_options(optimizer: torch.optim.Optimizer, options: List[Dict[str, Any]]) -> None:
    if len(options) != len(optimizer.param_groups):
        raise ValueError(
            f"broadcast_optimizer_state: the root has {len(options)} parameter groups, this rank "
            f"has {len(optimizer.param_groups)}"
        )
    for group, values in zip(optimizer.param_groups, options):
        group.update(values)


def _take_rest(optimizer: torch.optim.Optimizer, state: State) -> None:
    """What is no tensor; and entries that the root does not have go."""
    for group, parameters in zip(optimizer.param_groups, state):
        for p, entries in zip(group["params"], parameters):
            if not entries:
                optimizer.state.pop(p, None)
                continue
            mine = optimizer.state[p]
            for key in [key for key in mine if key not in entries]:
                del mine[key]
            for key, value in entries.items():
                if isinstance(value, _TensorPlace):
                    if key != "step":  # counters stay on the CPU, as optimizers keep them
                        mine[key] = mine[key].to(p.device)
                else:
                    mine[key] = value
