"""Gradients of the operators, as Horovod defines them.

The collective of a gradient is named after that of the forward pass, `<name>.grad`, so it is the
same on every rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from horovodx.torch_ops import engine, functions

_SUM = 1


def _save_how(ctx: Any, inputs: tuple[Any, ...], output: object) -> None:
    _, name, *ctx.how = inputs
    ctx.name = f"{name}.grad"


def _allreduce(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    return functions.allreduce(gradient, ctx.name, *ctx.how), None, None, None, None, None


def _grouped_allreduce(ctx: Any, gradients: Sequence[Tensor]) -> tuple[Any, ...]:
    reduced = functions.grouped_allreduce(gradients, ctx.name, *ctx.how)
    return reduced, None, None, None, None, None


def _save_allgather(ctx: Any, inputs: tuple[Any, ...], output: object) -> None:
    tensor, name, ctx.process_set = inputs[:3]
    ctx.name = f"{name}.grad"
    ctx.rows = tensor.shape[0]


def _allgather(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    mine = torch.ops.horovodx.allgather_backward(
        gradient.contiguous(), ctx.rows, ctx.name, ctx.process_set
    )
    return mine, None, None, None


def _save_broadcast(ctx: Any, inputs: tuple[Any, ...], output: object) -> None:
    _, ctx.root, name, ctx.process_set = inputs
    ctx.name = f"{name}.grad"


def _broadcast(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    at_root = torch.ops.horovodx.broadcast_backward(
        gradient.contiguous(), ctx.root, ctx.name, ctx.process_set
    )
    return at_root, None, None, None


def _save_alltoall(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    tensor, _, name, ctx.process_set = inputs[:4]
    ctx.name = f"{name}.grad"
    ctx.rows = tensor.shape[0]
    ctx.save_for_backward(output[1])


def _alltoall(ctx: Any, gradient: Tensor, _: object) -> tuple[Tensor | None, ...]:
    # What was received goes back; rows that were not sent get no gradient.
    (received,) = ctx.saved_tensors
    back, _ = torch.ops.horovodx.alltoall(
        gradient.contiguous(), received, ctx.name, ctx.process_set, ctx.rows
    )
    return back, None, None, None, None


def _save_reducescatter(ctx: Any, inputs: tuple[Any, ...], output: object) -> None:
    _save_how(ctx, inputs, output)
    ctx.rows = inputs[0].shape[0]


def _reducescatter(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    op, prescale, postscale, process_set = ctx.how
    factor = prescale * postscale
    if op == _SUM:
        factor *= engine.set_size(process_set)
    if factor != 1.0:
        gradient = gradient * factor
    everybodys = torch.ops.horovodx.allgather(
        gradient.contiguous(), ctx.name, process_set, ctx.rows
    )
    return everybodys, None, None, None, None, None


_GRADIENTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "allreduce": (_allreduce, _save_how),
    "grouped_allreduce": (_grouped_allreduce, _save_how),
    "allgather": (_allgather, _save_allgather),
    "broadcast": (_broadcast, _save_broadcast),
    "alltoall": (_alltoall, _save_alltoall),
    "reducescatter": (_reducescatter, _save_reducescatter),
}


def register() -> None:
    for name, (backward, save) in _GRADIENTS.items():
        torch.library.register_autograd(f"horovodx::{name}", backward, setup_context=save)
