"""The collectives as functions, with Horovod's meaning, for code that is being compiled.

Names are as in `horovod.torch`: a tensor named `x` here meets one named `x` on a rank that does not
compile. See names.py for tensors without a name.

An allreduce that needs no gradient becomes a start and a wait. The compiler moves the wait down to
where the result is used, so that a loop of plain `allreduce` calls has all of them under way at
once. Where a gradient is needed it is one operator that blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from horovodx.torch_ops.names import name_of_call

_AVERAGE = 0


class Pending(NamedTuple):
    """An allreduce under way: what `allreduce_async` returns in compiled code."""

    ticket: Tensor
    like: Tensor  # the input: gives the result its shape
    target: Tensor | None  # where the result goes, if in place


def _needs_gradient(tensor: Tensor) -> bool:
    return torch.is_grad_enabled() and tensor.requires_grad


def _wait(ticket: Tensor, like: Tensor) -> Tensor:
    result: Tensor = torch.ops.horovodx.allreduce_wait(ticket, like.shape, like.dtype)
    return result


def allreduce(
    tensor: Tensor,
    name: str | None = None,
    op: int = _AVERAGE,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> Tensor:
    """The reduced tensor; differentiable."""
    if name is None:
        name = name_of_call("allreduce")
    tensor = tensor.contiguous()
    if _needs_gradient(tensor):
        result: Tensor = torch.ops.horovodx.allreduce(
            tensor, name, op, prescale, postscale, process_set
        )
        return result
    ticket = torch.ops.horovodx.allreduce_start(tensor, name, op, prescale, postscale, process_set)
    return _wait(ticket, tensor)


def allreduce_(
    tensor: Tensor,
    name: str | None = None,
    op: int = _AVERAGE,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> Tensor:
    """Reduces in place and returns the tensor."""
    with torch.no_grad():
        return tensor.copy_(allreduce(tensor, name, op, prescale, postscale, process_set))


def allreduce_async(
    tensor: Tensor,
    name: str | None = None,
    op: int = _AVERAGE,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> Pending:
    """Starts an allreduce; `synchronize` returns its result."""
    if name is None:
        name = name_of_call("allreduce")
    with torch.no_grad():
        like = tensor.detach().contiguous()
        ticket = torch.ops.horovodx.allreduce_start(
            like, name, op, prescale, postscale, process_set
        )
    return Pending(ticket, like, None)


def allreduce_async_(
    tensor: Tensor,
    name: str | None = None,
    op: int = _AVERAGE,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> Pending:
    """Starts an allreduce; `synchronize` writes its result to the tensor and returns that."""
    pending = allreduce_async(tensor, name, op, prescale, postscale, process_set)
    return Pending(pending.ticket, pending.like, tensor)


def synchronize(pending: Pending) -> Tensor:
    """Waits for what `allreduce_async` or `allreduce_async_` started."""
    with torch.no_grad():
        result = _wait(pending.ticket, pending.like)
        return result if pending.target is None else pending.target.copy_(result)


def grouped_allreduce(
    tensors: Sequence[Tensor],
    name: str | None = None,
    op: int = _AVERAGE,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> list[Tensor]:
    """The reduced tensors, which travel together; differentiable."""
    if name is None:
        name = name_of_call("grouped_allreduce")
    if len(tensors) == 0:
        raise ValueError("grouped_allreduce: the list of tensors is empty")
    inputs = [tensor.contiguous() for tensor in tensors]
    if any(_needs_gradient(tensor) for tensor in inputs):
        results: list[Tensor] = torch.ops.horovodx.grouped_allreduce(
            inputs, name, op, prescale, postscale, process_set
        )
        return results
    tickets = torch.ops.horovodx.grouped_allreduce_start(
        inputs, name, op, prescale, postscale, process_set
    )
    return [_wait(ticket, like) for ticket, like in zip(tickets, inputs)]


def grouped_allreduce_(
    tensors: Sequence[Tensor],
    name: str | None = None,
    op: int = _AVERAGE,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> list[Tensor]:
    """Reduces in place and returns the tensors."""
    with torch.no_grad():
        results = grouped_allreduce(tensors, name, op, prescale, postscale, process_set)
        return [tensor.copy_(result) for tensor, result in zip(tensors, results)]


def allgather(tensor: Tensor, name: str | None = None, process_set: int = 0) -> Tensor:
    """Everybody's rows, by rank; differentiable. How many there are is known when it runs."""
    if name is None:
        name = name_of_call("allgather")
    rows: Tensor = torch.ops.horovodx.allgather(tensor.contiguous(), name, process_set)
    return rows


def broadcast(
    tensor: Tensor, root_rank: int, name: str | None = None, process_set: int = 0
) -> Tensor:
    """A copy of the root's tensor; differentiable."""
    if name is None:
        name = name_of_call("broadcast")
    copy: Tensor = torch.ops.horovodx.broadcast(tensor.contiguous(), root_rank, name, process_set)
    return copy


def broadcast_(
    tensor: Tensor, root_rank: int, name: str | None = None, process_set: int = 0
) -> Tensor:
    """Overwrites the tensor with the root's and returns it."""
    with torch.no_grad():
        return tensor.copy_(broadcast(tensor, root_rank, name, process_set))


def alltoall(
    tensor: Tensor,
    splits: Tensor | Sequence[int] | None = None,
    name: str | None = None,
    process_set: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:
    """Rows from everybody, and with `splits` how many from whom; differentiable in `tensor`."""
    if name is None:
        name = name_of_call("alltoall")
    if splits is None:
        counts = torch.empty(0, dtype=torch.int32)
    elif isinstance(splits, Tensor):
        counts = splits.contiguous()
    else:
        counts = torch.tensor(splits, dtype=torch.int32)
    output, received = torch.ops.horovodx.alltoall(tensor.contiguous(), counts, name, process_set)
    return output if splits is None else (output, received)


def reducescatter(
    tensor: Tensor,
    name: str | None = None,
    op: int = _AVERAGE,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> Tensor:
    """This rank's rows of the reduced tensor; differentiable."""
    if tensor.dim() == 0:
        raise ValueError("reducescatter does not support scalar inputs")
    if name is None:
        name = name_of_call("reducescatter")
    share: Tensor = torch.ops.horovodx.reducescatter(
        tensor.contiguous(), name, op, prescale, postscale, process_set
    )
    return share


def barrier(process_set: int = 0) -> None:
    """Returns when every rank of the set has come."""
    torch.ops.horovodx.barrier(process_set)
