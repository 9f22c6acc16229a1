"""What the operators return, without running them: for the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

import torch
from torch import SymInt, Tensor

from horovodx.torch_ops import engine, inductor

Size = Union[int, SymInt]


def _result_like(tensor: Tensor) -> Tensor:
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


def _ticket(tensor: Tensor) -> Tensor:
    inductor.keep_order()
    return tensor.new_empty((), dtype=torch.int64)


def _rows_known_when_run() -> SymInt:
    return torch.library.get_ctx().new_dynamic_size()


def _with_rows(tensor: Tensor, rows: Size) -> Tensor:
    return tensor.new_empty((rows, *tensor.shape[1:]))


def _rows_or_dynamic(rows: Size) -> Size:
    return _rows_known_when_run() if isinstance(rows, int) and rows < 0 else rows


def _allreduce_start(tensor: Tensor, *_how: object) -> Tensor:
    return _ticket(tensor)


def _grouped_allreduce_start(tensors: Sequence[Tensor], *_how: object) -> list[Tensor]:
    return [_ticket(tensor) for tensor in tensors]


def _allreduce_wait(ticket: Tensor, size: Sequence[Size], dtype: torch.dtype) -> Tensor:
    return ticket.new_empty(size, dtype=dtype)


def _same_shape(tensor: Tensor, *_how: object) -> Tensor:
    inductor.keep_order()
    return _result_like(tensor)


def _in_place(_tensor: Tensor, *_how: object) -> None:
    return None


def _grouped_allreduce(tensors: Sequence[Tensor], *_how: object) -> list[Tensor]:
    inductor.keep_order()
    return [_result_like(tensor) for tensor in tensors]


def _allgather(tensor: Tensor, _name: str, _process_set: int, rows: Size = -1) -> Tensor:
    inductor.keep_order()
    return _with_rows(tensor, _rows_or_dynamic(rows))


def _allgather_backward(gradient: Tensor, rows: Size, _name: str, _process_set: int) -> Tensor:
    inductor.keep_order()
    return _with_rows(gradient, rows)


def _alltoall(
    tensor: Tensor, splits: Tensor, _name: str, _process_set: int, rows: Size = -1
) -> tuple[Tensor, Tensor]:
    inductor.keep_order()
    received = splits.new_empty((_rows_known_when_run(),), dtype=torch.int32)
    return _with_rows(tensor, _rows_or_dynamic(rows)), received


def _reducescatter(
    tensor: Tensor, _name: str, _op: int, _prescale: float, _postscale: float, process_set: int
) -> Tensor:
    inductor.keep_order()
    members, me = engine.set_size(process_set), engine.rank_in_set(process_set)
    # The first members get the rows that are left over.
    return _with_rows(tensor, (tensor.shape[0] + members - 1 - me) // members)


def _barrier(_process_set: int) -> Tensor:
    inductor.keep_order()
    return torch.empty((), dtype=torch.int64)


_SHAPES: dict[str, Callable[..., Any]] = {
    "allreduce_start": _allreduce_start,
    "grouped_allreduce_start": _grouped_allreduce_start,
    "allreduce_wait": _allreduce_wait,
    "allreduce": _same_shape,
    "allreduce_": _in_place,
    "grouped_allreduce": _grouped_allreduce,
    "allgather": _allgather,
    "allgather_backward": _allgather_backward,
    "broadcast": _same_shape,
    "broadcast_": _in_place,
    "broadcast_backward": _same_shape,
    "alltoall": _alltoall,
    "reducescatter": _reducescatter,
    "barrier": _barrier,
}


def register() -> None:
    for name, shape in _SHAPES.items():
        torch.library.register_fake(f"horovodx::{name}", shape)
