"""Allgather and alltoall, whose results have a size that is known only at the end; no gradients."""

from typing import Any, List, Optional, Sequence, Tuple, Union

import torch

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch import _handles
from horovod.torch._basics import set_id
from horovod.torch._handles import Pending
from horovod.torch._tensor import MOVED, TYPE_NUMBERS, check, check_all, on_host
from horovodx import _horovodx as native

_ALLGATHER = 1
_ALLTOALL = 5

Splits = Union[torch.Tensor, Sequence[int]]


def _take(native_handles: List[int], i: int, like: torch.Tensor) -> torch.Tensor:
    """The engine's memory of one result as a tensor; it lives as long as the tensor does."""
    handle = native_handles[i]
    shape = native.output_shape(handle)
    elements = 1
    for dimension in shape:
        elements *= dimension
    if elements == 0:
        return like.new_empty(shape)
    native_handles[i] = 0  # it belongs to the tensor from here on
    memory = native.Result(handle, elements * like.element_size())
    result = torch.frombuffer(memory, dtype=like.dtype).view(shape)
    return result if like.device.type == "cpu" else result.to(like.device)


def allgather_async(
    tensor: torch.Tensor,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts to put the tensors of all ranks one below the other; they may differ in rows."""
    check(tensor, MOVED)
    number = _handles.next_number()
    source = on_host(tensor)
    native_handles = [
        native.submit(
            _ALLGATHER,
            _handles.name_for("allgather", name, number),
            TYPE_NUMBERS[tensor.dtype],
            tensor.shape,
            source.data_ptr(),
            0,
            process_set=set_id(process_set),
        )
    ]
    pending = Pending(native_handles, source, lambda: _take(native_handles, 0, tensor))
    return _handles.remember(number, pending)


def grouped_allgather_async(
    tensors: Sequence[torch.Tensor],
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts the allgather of a group; synchronize(handle) returns a tuple."""
    if not tensors:
        raise ValueError("A grouped operation needs at least one tensor.")
    check_all(tensors, MOVED)
    number = _handles.next_number()
    base = _handles.name_for("grouped_allgather", name, number)
    sources = [on_host(tensor) for tensor in tensors]
    native_handles = native.submit_group(
        _ALLGATHER,
        [f"{base}_{i + 1}of{len(tensors)}" for i in range(len(tensors))],
        [TYPE_NUMBERS[tensor.dtype] for tensor in tensors],
        [tensor.shape for tensor in tensors],
        [source.data_ptr() for source in sources],
        [0] * len(tensors),
        process_set=set_id(process_set),
    )

    def finish() -> Tuple[torch.Tensor, ...]:
        return tuple(_take(native_handles, i, tensor) for i, tensor in enumerate(tensors))

    return _handles.remember(number, Pending(native_handles, sources, finish))


def splits_of(splits: Optional[Splits]) -> Optional[List[int]]:
    """Rows for each rank as a list; refuses what is not one line of 32-bit integers."""
    if splits is None:
        return None
    if isinstance(splits, torch.Tensor):
        if splits.dim() != 1:
            raise ValueError(f"alltoall expects a 1D splits tensor, got {splits.dim()} dimensions")
        if splits.dtype != torch.int32:
            raise ValueError("alltoall expects splits to contain 32-bit integer elements")
        splits = splits.tolist()
    rows = [int(n) for n in splits]
    if not rows:  # to the engine no entries would mean no splits
        raise ValueError("Alltoall: the number of splits (0) does not equal number of workers.")
    return rows


def alltoall_async(
    tensor: torch.Tensor,
    splits: Optional[Splits] = None,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts to send rows to every rank; synchronize(handle) returns (output, received splits).

    `splits`: rows for each rank; without it every rank gets the same number.
    """
    check(tensor, MOVED)
    rows = splits_of(splits)
    number = _handles.next_number()
    source = on_host(tensor)
    native_handles = [
        native.submit(
            _ALLTOALL,
            _handles.name_for("alltoall", name, number),
            TYPE_NUMBERS[tensor.dtype],
            tensor.shape,
            source.data_ptr(),
            0,
            process_set=set_id(process_set),
            splits=rows,
        )
    ]
    members = process_set.size() or 0

    def finish() -> Tuple[torch.Tensor, torch.Tensor]:
        received: Any = native.received_splits(native_handles[0], members)
        device = splits.device if isinstance(splits, torch.Tensor) else None
        received_splits = torch.tensor(received, dtype=torch.int32, device=device)
        return _take(native_handles, 0, tensor), received_splits

    return _handles.remember(number, Pending(native_handles, source, finish))
