"""Horovod's native torch module, for code that calls it past the Python API.

A function for each collective and type, e.g. horovod_torch_allreduce_async_torch_FloatTensor: all
take tensors with room for the result, return a handle, and know sets by their number.
"""

from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import torch

from horovod.common.process_sets import ProcessSet
from horovod.torch import _allreduce, _broadcast, _gather, _handles, _join_barrier, _reducescatter
from horovod.torch._tensor import TYPE_NUMBERS

Name = Union[str, bytes]


def _set(process_set_id: int) -> ProcessSet:
    process_set = ProcessSet([])
    process_set.process_set_id, process_set.ranks = process_set_id, None
    return process_set


def _text(name: Name) -> Optional[str]:
    return (name.decode() if isinstance(name, bytes) else name) or None


def _then(handle: int, finish: Callable[[Any], Any]) -> int:
    """Has something done with the result of an operation that is under way."""
    pending = _handles._handle_map[handle]
    make = pending.finish
    pending.finish = lambda: finish(make())
    return handle


def _divided(outputs: Sequence[torch.Tensor], divisor: int) -> None:
    if divisor > 1:
        for output in outputs:
            if output.is_floating_point():
                output.div_(divisor)
            else:
                output.floor_divide_(divisor)


def _filled(outputs: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> None:
    for output, result in zip(outputs, results):
        output.resize_(result.shape).copy_(result)


def _allreduce_async(
    tensor: torch.Tensor,
    output: torch.Tensor,
    divisor: int,
    name: Name,
    reduce_op: int,
    prescale: float,
    postscale: float,
    process_set_id: int,
) -> int:
    handle = _allreduce.start(
        tensor, output, _text(name), reduce_op, prescale, postscale, _set(process_set_id)
    )
    return _then(handle, lambda _: _divided([output], divisor))


def _grouped_allreduce_async(
    tensors: List[torch.Tensor],
    outputs: List[torch.Tensor],
    divisor: int,
    name: Name,
    reduce_op: int,
    prescale: float,
    postscale: float,
    process_set_id: int,
) -> int:
    handle = _allreduce.start_group(
        tensors, outputs, _text(name), reduce_op, prescale, postscale, _set(process_set_id)
    )
    return _then(handle, lambda _: _divided(outputs, divisor))


def _allgather_async(
    tensor: torch.Tensor, output: torch.Tensor, name: Name, process_set_id: int
) -> int:
    handle = _gather.allgather_async(tensor, _text(name), _set(process_set_id))
    return _then(handle, lambda result: _filled([output], [result]))


def _grouped_allgather_async(
    tensors: List[torch.Tensor], outputs: List[torch.Tensor], name: Name, process_set_id: int
) -> int:
    handle = _gather.grouped_allgather_async(tensors, _text(name), _set(process_set_id))
    return _then(handle, lambda results: _filled(outputs, results))


def _broadcast_async(
    tensor: torch.Tensor, output: torch.Tensor, root_rank: int, name: Name, process_set_id: int
) -> int:
    return _broadcast._start(tensor, output, root_rank, _text(name), _set(process_set_id))


def _alltoall_async(
    tensor: torch.Tensor,
    splits: Optional[torch.Tensor],
    output: torch.Tensor,
    output_received_splits: torch.Tensor,
    name: Name,
    process_set_id: int,
) -> int:
    if splits is not None and splits.numel() == 0:
        splits = None  # as Horovod's own layer asks for equal shares
    handle = _gather.alltoall_async(tensor, splits, _text(name), _set(process_set_id))
    return _then(handle, lambda pair: _filled([output, output_received_splits], pair))


def _reducescatter_async(
    tensor: torch.Tensor,
    output: torch.Tensor,
    name: Name,
    reduce_op: int,
    process_set_id: int,
    prescale: float,
    postscale: float,
) -> int:
    handle = _reducescatter.reducescatter_async(
        tensor, _text(name), reduce_op, _set(process_set_id), prescale, postscale
    )
    return _then(handle, lambda result: _filled([output], [result]))


def _grouped_reducescatter_async(
    tensors: List[torch.Tensor],
    outputs: List[torch.Tensor],
    name: Name,
    reduce_op: int,
    process_set_id: int,
    prescale: float,
    postscale: float,
) -> int:
    handle = _reducescatter.grouped_reducescatter_async(
        tensors, _text(name), reduce_op, _set(process_set_id), prescale, postscale
    )
    return _then(handle, lambda results: _filled(outputs, results))


def horovod_torch_join(output_tensor: torch.Tensor, device: int) -> int:
    """Says that this rank has no more data; the last rank to say so is put into `output_tensor`."""
    return _then(_join_barrier.join_async(), output_tensor.fill_)


def horovod_torch_barrier(process_set_id: int) -> int:
    """Starts to wait for the other ranks of the set."""
    return _join_barrier.barrier_async(_set(process_set_id))


def horovod_torch_poll(handle: int) -> bool:
    """Whether the operation has ended."""
    return _handles.poll(handle)


def horovod_torch_wait_and_clear(handle: int) -> None:
    """Waits for the operation, whose outputs are there afterwards."""
    _handles.synchronize(handle)


def horovod_torch_reset() -> None:
    """Forgets all handles."""
    _handles.forget_all()


_OPERATIONS: Dict[str, Callable[..., int]] = {
    "allreduce": _allreduce_async,
    "grouped_allreduce": _grouped_allreduce_async,
    "allgather": _allgather_async,
    "grouped_allgather": _grouped_allgather_async,
    "broadcast": _broadcast_async,
    "alltoall": _alltoall_async,
    "reducescatter": _reducescatter_async,
    "grouped_reducescatter": _grouped_reducescatter_async,
}
for _operation, _function in _OPERATIONS.items():
    for _dtype in TYPE_NUMBERS:
        _type = torch.empty(0, dtype=_dtype).type().replace(".", "_")
        for _place in (_type, _type.replace("torch_", "torch_cuda_")):
            globals()[f"horovod_torch_{_operation}_async_{_place}"] = _function
