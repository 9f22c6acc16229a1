"""The differentiable collectives: what each sends back when gradients arrive.

Gradients of broadcast and allgather are averaged over the ranks, as in Horovod.
"""

from typing import Any, List, Optional, Sequence, Tuple

import torch

from horovod.common.process_sets import ProcessSet
from horovod.torch import _allreduce
from horovod.torch._basics import Average, Sum, rank
from horovod.torch._broadcast import broadcast_async
from horovod.torch._gather import Splits, allgather_async, alltoall_async, grouped_allgather_async
from horovod.torch._handles import synchronize
from horovod.torch._reducescatter import grouped_reducescatter_async, reducescatter_async

Tensors = Tuple[torch.Tensor, ...]


def _allreduced(
    tensor: torch.Tensor, op: int, prescale: float, postscale: float, process_set: ProcessSet
) -> torch.Tensor:
    tensor = tensor.contiguous()
    output = torch.empty_like(tensor)
    return _allreduce.run(tensor, output, None, op, prescale, postscale, process_set)


def _averaged(tensor: torch.Tensor, process_set: ProcessSet) -> torch.Tensor:
    return _allreduced(tensor, Average, 1.0, 1.0, process_set)


def _own_rows(rows: Sequence[int], process_set: ProcessSet) -> List[Tuple[int, int]]:
    """For each tensor of a gather, where this rank's rows begin and how many they are."""
    mine = torch.tensor([list(rows)], dtype=torch.int32)
    everybody = synchronize(allgather_async(mine, None, process_set))
    before = everybody[: process_set.rank()].sum(0)
    return [(int(first), int(count)) for first, count in zip(before, rows)]


class HorovodAllreduce(torch.autograd.Function):
    """allreduce(); backward is the same allreduce of the gradient."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        tensor: torch.Tensor,
        name: Optional[str],
        op: int,
        prescale_factor: float,
        postscale_factor: float,
        process_set: ProcessSet,
    ) -> torch.Tensor:
        ctx.how = (op, prescale_factor, postscale_factor, process_set)
        output = torch.empty_like(tensor)
        return _allreduce.run(tensor, output, name, *ctx.how)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:  # type: ignore[override]
        return _allreduced(grad_output, *ctx.how), None, None, None, None, None


class HorovodGroupedAllreduce(torch.autograd.Function):
    """grouped_allreduce(); backward is the same of the gradients."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        name: Optional[str],
        op: int,
        prescale_factor: float,
        postscale_factor: float,
        process_set: ProcessSet,
        *tensors: torch.Tensor,
    ) -> Tensors:
        ctx.how = (op, prescale_factor, postscale_factor, process_set)
        outputs = [torch.empty_like(tensor) for tensor in tensors]
        result: Tensors = synchronize(_allreduce.start_group(tensors, outputs, name, *ctx.how))
        return result

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> Any:  # type: ignore[override]
        gradients = [gradient.contiguous() for gradient in grad_outputs]
        outputs = [torch.empty_like(gradient) for gradient in gradients]
        reduced = synchronize(_allreduce.start_group(gradients, outputs, None, *ctx.how))
        return (None, None, None, None, None, *reduced)


class HorovodAllgather(torch.autograd.Function):
    """allgather(); backward averages the gradient and takes this rank's rows."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, tensor: torch.Tensor, name: Optional[str], process_set: ProcessSet
    ) -> torch.Tensor:
        ctx.rows, ctx.process_set = tensor.shape[0], process_set
        result: torch.Tensor = synchronize(allgather_async(tensor, name, process_set))
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:  # type: ignore[override]
        averaged = _averaged(grad_output, ctx.process_set)
        [(first, count)] = _own_rows([ctx.rows], ctx.process_set)
        return averaged.narrow(0, first, count), None, None


class HorovodGroupedAllgather(torch.autograd.Function):
    """grouped_allgather(); backward as of allgather()."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, name: Optional[str], process_set: ProcessSet, *tensors: torch.Tensor
    ) -> Tensors:
        ctx.rows, ctx.process_set = [tensor.shape[0] for tensor in tensors], process_set
        result: Tensors = synchronize(grouped_allgather_async(tensors, name, process_set))
        return result

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> Any:  # type: ignore[override]
        gradients = [gradient.contiguous() for gradient in grad_outputs]
        outputs = [torch.empty_like(gradient) for gradient in gradients]
        averaged = synchronize(
            _allreduce.start_group(gradients, outputs, None, Average, 1.0, 1.0, ctx.process_set)
        )
        places = _own_rows(ctx.rows, ctx.process_set)
        mine = [all_rows.narrow(0, *place) for all_rows, place in zip(averaged, places)]
        return (None, None, *mine)


class HorovodBroadcast(torch.autograd.Function):
    """broadcast(); backward averages the gradient for the root, zero for the others."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        tensor: torch.Tensor,
        root_rank: int,
        name: Optional[str],
        process_set: ProcessSet,
    ) -> torch.Tensor:
        ctx.root_rank, ctx.process_set = root_rank, process_set
        result: torch.Tensor = synchronize(broadcast_async(tensor, root_rank, name, process_set))
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:  # type: ignore[override]
        averaged = _averaged(grad_output, ctx.process_set)
        if rank() != ctx.root_rank:
            averaged *= 0
        return averaged, None, None, None


class HorovodAlltoall(torch.autograd.Function):
    """alltoall(); backward sends every row of the gradient back to where it came from."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        tensor: torch.Tensor,
        splits: Optional[Splits],
        name: Optional[str],
        process_set: ProcessSet,
    ) -> Tuple[torch.Tensor, torch.Tensor]:
        output, received_splits = synchronize(alltoall_async(tensor, splits, name, process_set))
        ctx.rows, ctx.received, ctx.process_set = tensor.shape, received_splits, process_set
        ctx.mark_non_differentiable(received_splits)
        return output, received_splits

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor, _: Any) -> Any:  # type: ignore[override]
        received = ctx.received.cpu()
        gradient, _ = synchronize(
            alltoall_async(grad_output.contiguous(), received, None, ctx.process_set)
        )
        if gradient.shape[0] < ctx.rows[0]:  # rows that were not sent
            whole = gradient.new_zeros(ctx.rows)
            whole[: gradient.shape[0]] = gradient
            gradient = whole
        return gradient, None, None, None


def _scattered_back(
    gradient: torch.Tensor, op: int, prescale: float, postscale: float, process_set: ProcessSet
) -> torch.Tensor:
    """A gradient of a reducescatter, scaled: a copy, since it is not ours to change."""
    factor = (process_set.size() or 1) if op == Sum else 1
    return (gradient * (factor * prescale * postscale)).contiguous()


class HorovodReducescatter(torch.autograd.Function):
    """reducescatter(); backward gathers the gradients of all rows."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        tensor: torch.Tensor,
        name: Optional[str],
        op: int,
        process_set: ProcessSet,
        prescale_factor: float,
        postscale_factor: float,
    ) -> torch.Tensor:
        ctx.how = (op, prescale_factor, postscale_factor, process_set)
        result: torch.Tensor = synchronize(
            reducescatter_async(tensor, name, op, process_set, prescale_factor, postscale_factor)
        )
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:  # type: ignore[override]
        scaled = _scattered_back(grad_output, *ctx.how)
        gradient = synchronize(allgather_async(scaled, None, ctx.how[3]))
        return gradient, None, None, None, None, None


class HorovodGroupedReducescatter(torch.autograd.Function):
    """grouped_reducescatter(); backward as of reducescatter()."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        name: Optional[str],
        op: int,
        process_set: ProcessSet,
        prescale_factor: float,
        postscale_factor: float,
        *tensors: torch.Tensor,
    ) -> Tensors:
        ctx.how = (op, prescale_factor, postscale_factor, process_set)
        result: Tensors = synchronize(
            grouped_reducescatter_async(
                tensors, name, op, process_set, prescale_factor, postscale_factor
            )
        )
        return result

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> Any:  # type: ignore[override]
        scaled = [_scattered_back(gradient, *ctx.how) for gradient in grad_outputs]
        gathered = synchronize(grouped_allgather_async(scaled, None, ctx.how[3]))
        return (None, None, None, None, None, *gathered)
