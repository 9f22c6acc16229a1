"""The blocking collectives with gradients, as scripts call them.

Where no gradient is wanted the way through autograd is left out; under torch.compile the operators
of `horovodx.torch_ops` take over, which a compiler can see through.
"""

from typing import Any, List, Optional, Sequence, Tuple, Union

import torch

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch import _allreduce, _autograd, _compiled
from horovod.torch._basics import Average, handle_average_backwards_compatibility, set_id
from horovod.torch._broadcast import broadcast_async
from horovod.torch._gather import Splits, allgather_async, alltoall_async, grouped_allgather_async
from horovod.torch._handles import synchronize
from horovod.torch._reducescatter import grouped_reducescatter_async, reducescatter_async
from horovod.torch._tensor import REDUCED, check
from horovod.torch.compression import Compression


def _wants_gradient(*tensors: Any) -> bool:
    return torch.is_grad_enabled() and any(
        isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in tensors
    )


def _member(name: Optional[str], i: int) -> Optional[str]:
    """A name for one of several tensors that go one by one."""
    return None if name is None else f"{name}_{i + 1}"


def allreduce(
    tensor: torch.Tensor,
    average: Optional[bool] = None,
    name: Optional[str] = None,
    compression: Any = Compression.none,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> torch.Tensor:
    """Reduces a tensor over all ranks of the set (the average, unless `op` says otherwise).

    Returns a new tensor, the same on all ranks. Differentiable.
    """
    op = _allreduce.resolve(op, average, process_set)
    compressed, ctx = compression.compress(tensor)
    if _compiled.is_compiling():
        reduced = _compiled.operators.allreduce(
            compressed, name, op, prescale_factor, postscale_factor, set_id(process_set)
        )
    elif _wants_gradient(compressed):
        reduced = _autograd.HorovodAllreduce.apply(
            compressed, name, op, prescale_factor, postscale_factor, process_set
        )
    else:
        check(compressed, REDUCED)
        reduced = _allreduce.run(
            compressed,
            torch.empty_like(compressed),
            name,
            op,
            prescale_factor,
            postscale_factor,
            process_set,
        )
    result: torch.Tensor = compression.decompress(reduced, ctx)
    return result


def grouped_allreduce(
    tensors: Sequence[torch.Tensor],
    average: Optional[bool] = None,
    name: Optional[str] = None,
    compression: Any = Compression.none,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> List[torch.Tensor]:
    """Reduces several tensors as one. Returns a list of new tensors. Differentiable."""
    op = _allreduce.resolve(op, average, process_set)
    if not tensors:
        raise ValueError("A grouped operation needs at least one tensor.")
    compressed, contexts = zip(*[compression.compress(tensor) for tensor in tensors])
    if _compiled.is_compiling():
        reduced = _compiled.operators.grouped_allreduce(
            compressed, name, op, prescale_factor, postscale_factor, set_id(process_set)
        )
    elif _wants_gradient(*compressed):
        reduced = _autograd.HorovodGroupedAllreduce.apply(
            name, op, prescale_factor, postscale_factor, process_set, *compressed
        )
    else:
        reduced = synchronize(
            _allreduce.grouped_allreduce_async(
                compressed, None, name, op, prescale_factor, postscale_factor, process_set
            )
        )
    return [compression.decompress(one, ctx) for one, ctx in zip(reduced, contexts)]


def allgather(
    tensor: torch.Tensor,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> torch.Tensor:
    """Puts the tensors of all ranks one below the other. Differentiable."""
    if _compiled.is_compiling():
        rows: torch.Tensor = _compiled.operators.allgather(tensor, name, set_id(process_set))
        return rows
    tensor.shape[0]  # a tensor without dimensions is an IndexError, as in Horovod
    if _wants_gradient(tensor):
        result: torch.Tensor = _autograd.HorovodAllgather.apply(tensor, name, process_set)
        return result
    result = synchronize(allgather_async(tensor, name, process_set))
    return result


def grouped_allgather(
    tensors: Sequence[torch.Tensor],
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> Tuple[torch.Tensor, ...]:
    """Allgathers several tensors as one. Returns a tuple. Differentiable."""
    if _compiled.is_compiling():
        return tuple(
            _compiled.operators.allgather(tensor, _member(name, i), set_id(process_set))
            for i, tensor in enumerate(tensors)
        )
    if _wants_gradient(*tensors):
        result: Tuple[torch.Tensor, ...] = _autograd.HorovodGroupedAllgather.apply(
            name, process_set, *tensors
        )
        return result
    result = synchronize(grouped_allgather_async(tensors, name, process_set))
    return result


def broadcast(
    tensor: torch.Tensor,
    root_rank: int,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> torch.Tensor:
    """Gives the tensor of `root_rank` (a global rank) to all, as a new tensor. Differentiable."""
    if _compiled.is_compiling():
        copy: torch.Tensor = _compiled.operators.broadcast(
            tensor, root_rank, name, set_id(process_set)
        )
        return copy
    if _wants_gradient(tensor):
        result: torch.Tensor = _autograd.HorovodBroadcast.apply(
            tensor, root_rank, name, process_set
        )
        return result
    result = synchronize(broadcast_async(tensor, root_rank, name, process_set))
    return result


def alltoall(
    tensor: torch.Tensor,
    splits: Optional[Splits] = None,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> Union[torch.Tensor, Tuple[torch.Tensor, torch.Tensor]]:
    """Sends rows to every rank and returns those received; with `splits` also how many from whom.

    Differentiable in `tensor`.
    """
    if _compiled.is_compiling():
        return _compiled.operators.alltoall(tensor, splits, name, set_id(process_set))  # type: ignore[no-any-return]
    if _wants_gradient(tensor):
        output, received = _autograd.HorovodAlltoall.apply(tensor, splits, name, process_set)
    else:
        output, received = synchronize(alltoall_async(tensor, splits, name, process_set))
    return output if splits is None else (output, received)


def reducescatter(
    tensor: torch.Tensor,
    name: Optional[str] = None,
    compression: Any = Compression.none,
    op: int = Average,
    process_set: ProcessSet = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> torch.Tensor:
    """Reduces over all ranks and returns this rank's share of the rows. Differentiable."""
    compressed, ctx = compression.compress(tensor)
    if _compiled.is_compiling():
        scattered = _compiled.operators.reducescatter(
            compressed, name, op, prescale_factor, postscale_factor, set_id(process_set)
        )
    elif _wants_gradient(compressed):
        scattered = _autograd.HorovodReducescatter.apply(
            compressed, name, op, process_set, prescale_factor, postscale_factor
        )
    else:
        scattered = synchronize(
            reducescatter_async(
                compressed, name, op, process_set, prescale_factor, postscale_factor
            )
        )
    result: torch.Tensor = compression.decompress(scattered, ctx)
    return result


def grouped_reducescatter(
    tensors: Sequence[torch.Tensor],
    name: Optional[str] = None,
    compression: Any = Compression.none,
    op: int = Average,
    process_set: ProcessSet = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> List[torch.Tensor]:
    """Reducescatters several tensors as one. Returns a list. Differentiable."""
    if not tensors:
        raise ValueError("A grouped operation needs at least one tensor.")
    compressed, contexts = zip(*[compression.compress(tensor) for tensor in tensors])
    if _compiled.is_compiling():
        scattered = [
            _compiled.operators.reducescatter(
                one, _member(name, i), op, prescale_factor, postscale_factor, set_id(process_set)
            )
            for i, one in enumerate(compressed)
        ]
    elif _wants_gradient(*compressed):
        scattered = _autograd.HorovodGroupedReducescatter.apply(
            name, op, process_set, prescale_factor, postscale_factor, *compressed
        )
    else:
        scattered = synchronize(
            grouped_reducescatter_async(
                compressed, name, op, process_set, prescale_factor, postscale_factor
            )
        )
    return [compression.decompress(one, ctx) for one, ctx in zip(scattered, contexts)]


__all__ = [
    "allgather",
    "allreduce",
    "alltoall",
    "broadcast",
    "grouped_allgather",
    "grouped_allreduce",
    "grouped_reducescatter",
    "handle_average_backwards_compatibility",
    "reducescatter",
]
