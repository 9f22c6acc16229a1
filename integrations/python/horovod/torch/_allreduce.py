"""Allreduce of one tensor or a group, without gradients."""

from typing import Callable, List, Optional, Sequence, Tuple

import torch

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch import _compiled, _handles
from horovod.torch._basics import (
    Adasum,
    check_adasum,
    handle_average_backwards_compatibility,
    set_id,
)
from horovod.torch._handles import Pending
from horovod.torch._tensor import REDUCED, TYPE_NUMBERS, check, check_all, check_reduction, on_host
from horovodx import _horovodx as native

_ALLREDUCE = 0


def resolve(op: Optional[int], average: Optional[bool], process_set: ProcessSet) -> int:
    """The reduction that `op` and the deprecated `average` ask for."""
    chosen: int = handle_average_backwards_compatibility(op, average)
    if chosen == Adasum:
        check_adasum(process_set)
    return chosen


def run(
    tensor: torch.Tensor,
    output: torch.Tensor,
    name: Optional[str],
    op: int,
    prescale_factor: float,
    postscale_factor: float,
    process_set: ProcessSet,
) -> torch.Tensor:
    """Submits and waits: the shortest way for a caller who blocks anyway."""
    check_reduction(tensor, REDUCED, op, prescale_factor, postscale_factor)
    number = _handles.next_number()
    source = on_host(tensor)
    target = output if output.device.type == "cpu" else source
    try:
        native.run(
            _ALLREDUCE,
            _handles.name_for("allreduce", name, number),
            TYPE_NUMBERS[tensor.dtype],
            tensor.shape,
            source.data_ptr(),
            target.data_ptr(),
            op,
            prescale_factor,
            postscale_factor,
            set_id(process_set),
        )
    except KeyboardInterrupt:
        _handles.abandoned.append((source, target))
        raise
    if target is not output:
        output.copy_(target)
    return output


def start(
    tensor: torch.Tensor,
    output: torch.Tensor,
    name: Optional[str],
    op: int,
    prescale_factor: float,
    postscale_factor: float,
    process_set: ProcessSet,
) -> int:
    """Submits and returns a handle."""
    check_reduction(tensor, REDUCED, op, prescale_factor, postscale_factor)
    number = _handles.next_number()
    source, target = _host_pair(tensor, output)
    native_handle = native.submit(
        _ALLREDUCE,
        _handles.name_for("allreduce", name, number),
        TYPE_NUMBERS[tensor.dtype],
        tensor.shape,
        source.data_ptr(),
        target.data_ptr(),
        op,
        prescale_factor,
        postscale_factor,
        set_id(process_set),
    )
    finish: Callable[[], torch.Tensor] = (
        (lambda: output) if target is output else (lambda: output.copy_(target))
    )
    return _handles.remember(number, Pending([native_handle], (source, target), finish))


def start_group(
    tensors: Sequence[torch.Tensor],
    outputs: Sequence[torch.Tensor],
    name: Optional[str],
    op: int,
    prescale_factor: float,
    postscale_factor: float,
    process_set: ProcessSet,
) -> int:
    """Submits tensors that are reduced together and returns one handle."""
    if not tensors:
        raise ValueError("A grouped operation needs at least one tensor.")
    check_all(tensors, REDUCED)
    for tensor in tensors:
        check_reduction(tensor, REDUCED, op, prescale_factor, postscale_factor)
    number = _handles.next_number()
    base = _handles.name_for("grouped_allreduce", name, number)
    pairs = [_host_pair(tensor, output) for tensor, output in zip(tensors, outputs)]
    native_handles = native.submit_group(
        _ALLREDUCE,
        [f"{base}_{i + 1}of{len(tensors)}" for i in range(len(tensors))],
        [TYPE_NUMBERS[tensor.dtype] for tensor in tensors],
        [tensor.shape for tensor in tensors],
        [source.data_ptr() for source, _ in pairs],
        [target.data_ptr() for _, target in pairs],
        op,
        prescale_factor,
        postscale_factor,
        set_id(process_set),
    )

    def finish() -> Tuple[torch.Tensor, ...]:
        for output, (_, target) in zip(outputs, pairs):
            if target is not output:
                output.copy_(target)
        return tuple(outputs)

    return _handles.remember(number, Pending(native_handles, pairs, finish))


def _host_pair(
    tensor: torch.Tensor, output: torch.Tensor
) -> Tuple[torch.Tensor, torch.Tensor]:
    """What the CPU reads and writes: the tensors themselves, or one copy for both."""
    source = on_host(tensor)
    return source, output if output.device.type == "cpu" else source


def allreduce_async(
    tensor: torch.Tensor,
    average: Optional[bool] = None,
    name: Optional[str] = None,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts an allreduce into a new tensor; synchronize(handle) returns it."""
    op = resolve(op, average, process_set)
    if _compiled.is_compiling():
        return _compiled.operators.allreduce_async(  # type: ignore[no-any-return]
            tensor, name, op, prescale_factor, postscale_factor, set_id(process_set)
        )
    check(tensor, REDUCED)
    output = torch.empty_like(tensor)
    return start(tensor, output, name, op, prescale_factor, postscale_factor, process_set)


def allreduce_(
    tensor: torch.Tensor,
    average: Optional[bool] = None,
    name: Optional[str] = None,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> torch.Tensor:
    """Allreduces a tensor in place and returns it. Not differentiable."""
    op = resolve(op, average, process_set)
    if _compiled.is_compiling():
        return _compiled.operators.allreduce_(  # type: ignore[no-any-return]
            tensor, name, op, prescale_factor, postscale_factor, set_id(process_set)
        )
    return run(tensor, tensor, name, op, prescale_factor, postscale_factor, process_set)


def allreduce_async_(
    tensor: torch.Tensor,
    average: Optional[bool] = None,
    name: Optional[str] = None,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts an allreduce in place; synchronize(handle) returns the tensor."""
    op = resolve(op, average, process_set)
    if _compiled.is_compiling():
        return _compiled.operators.allreduce_async_(  # type: ignore[no-any-return]
            tensor, name, op, prescale_factor, postscale_factor, set_id(process_set)
        )
    return start(tensor, tensor, name, op, prescale_factor, postscale_factor, process_set)


def grouped_allreduce_async(
    tensors: Sequence[torch.Tensor],
    average: Optional[bool] = None,
    name: Optional[str] = None,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts an allreduce of a group into new tensors; synchronize(handle) returns their tuple."""
    op = resolve(op, average, process_set)
    check_all(tensors, REDUCED)
    outputs = [torch.empty_like(tensor) for tensor in tensors]
    return start_group(tensors, outputs, name, op, prescale_factor, postscale_factor, process_set)


def grouped_allreduce_async_(
    tensors: Sequence[torch.Tensor],
    average: Optional[bool] = None,
    name: Optional[str] = None,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts an allreduce of a group in place; synchronize(handle) returns the tensors."""
    op = resolve(op, average, process_set)
    return start_group(tensors, tensors, name, op, prescale_factor, postscale_factor, process_set)


def grouped_allreduce_(
    tensors: Sequence[torch.Tensor],
    average: Optional[bool] = None,
    name: Optional[str] = None,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
) -> Tuple[torch.Tensor, ...]:
    """Allreduces a group in place and returns its tensors. Not differentiable."""
    if _compiled.is_compiling():
        op = resolve(op, average, process_set)
        return tuple(
            _compiled.operators.grouped_allreduce_(
                tensors, name, op, prescale_factor, postscale_factor, set_id(process_set)
            )
        )
    handle = grouped_allreduce_async_(
        tensors, average, name, op, prescale_factor, postscale_factor, process_set
    )
    result: Tuple[torch.Tensor, ...] = _handles.synchronize(handle)
    return result


def sparse_allreduce_async(
    tensor: torch.Tensor,
    name: str,
    op: int,
    process_set: ProcessSet = global_process_set,
) -> Callable[[], torch.Tensor]:
    """Starts an allreduce of a sparse tensor; call what it returns to wait and get the result.

    Indices and values of all ranks are put side by side: the result is not coalesced.
    """
    from horovod.torch._basics import Average, Sum
    from horovod.torch._gather import allgather_async

    if op not in (Average, Sum):
        raise ValueError("Sparse allreduce supports only the operations Average and Sum.")
    indices = allgather_async(
        tensor._indices().transpose(0, 1).contiguous(), f"{name}.indices", process_set
    )
    values = allgather_async(tensor._values().contiguous(), f"{name}.values", process_set)

    def wait() -> torch.Tensor:
        all_indices = _handles.synchronize(indices)
        all_values = _handles.synchronize(values)
        if op == Average:
            all_values = all_values / process_set.size()
        return torch.sparse_coo_tensor(
            all_indices.transpose(0, 1), all_values, tensor.size(), check_invariants=False
        )

    return wait


__all__: List[str] = [
    "allreduce_",
    "allreduce_async",
    "allreduce_async_",
    "grouped_allreduce_",
    "grouped_allreduce_async",
    "grouped_allreduce_async_",
    "sparse_allreduce_async",
]
