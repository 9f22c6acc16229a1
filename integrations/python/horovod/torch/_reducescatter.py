"""Reducescatter: reduced over all ranks, each keeps its rows; no gradients."""

from typing import Callable, List, Optional, Sequence, Tuple

import torch

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch import _handles
from horovod.torch._basics import Average, set_id
from horovod.torch._handles import Pending
from horovod.torch._tensor import SCATTERED, TYPE_NUMBERS, check_all, check_reduction, on_host
from horovodx import _horovodx as native

_REDUCESCATTER = 7


def _output_like(tensor: torch.Tensor, process_set: ProcessSet) -> torch.Tensor:
    """Room on the CPU for this rank's rows; the first ranks get one more if they do not divide."""
    if tensor.dim() == 0:
        raise ValueError("reducescatter does not support scalar inputs.")
    return torch.empty((_own_rows(tensor, process_set), *tensor.shape[1:]), dtype=tensor.dtype)


def _own_rows(tensor: torch.Tensor, process_set: ProcessSet) -> int:
    rows = tensor.shape[0]
    try:
        members, me = process_set.size(), process_set.rank()
    except ValueError:
        return rows  # there is no such set, or I am not in it: the engine will say so
    if members is None or me is None:
        return rows
    return rows // members + (1 if me < rows % members else 0)


def _result(output: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return output if like.device.type == "cpu" else output.to(like.device)


def reducescatter_async(
    tensor: torch.Tensor,
    name: Optional[str] = None,
    op: int = Average,
    process_set: ProcessSet = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> int:
    """Starts a reducescatter; synchronize(handle) returns this rank's rows."""
    check_reduction(tensor, SCATTERED, op, prescale_factor, postscale_factor)
    number = _handles.next_number()
    source, output = on_host(tensor), _output_like(tensor, process_set)
    native_handle = native.submit(
        _REDUCESCATTER,
        _handles.name_for("reducescatter", name, number),
        TYPE_NUMBERS[tensor.dtype],
        tensor.shape,
        source.data_ptr(),
        output.data_ptr(),
        op,
        prescale_factor,
        postscale_factor,
        set_id(process_set),
    )
    finish: Callable[[], torch.Tensor] = lambda: _result(output, tensor)  # noqa: E731
    return _handles.remember(number, Pending([native_handle], source, finish))


def grouped_reducescatter_async(
    tensors: Sequence[torch.Tensor],
    name: Optional[str] = None,
    op: int = Average,
    process_set: ProcessSet = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> int:
    """Starts the reducescatter of a group; synchronize(handle) returns a tuple."""
    if not tensors:
        raise ValueError("A grouped operation needs at least one tensor.")
    check_all(tensors, SCATTERED)
    for tensor in tensors:
        check_reduction(tensor, SCATTERED, op, prescale_factor, postscale_factor)
    number = _handles.next_number()
    base = _handles.name_for("grouped_reducescatter", name, number)
    sources = [on_host(tensor) for tensor in tensors]
    outputs: List[torch.Tensor] = [_output_like(tensor, process_set) for tensor in tensors]
    native_handles = native.submit_group(
        _REDUCESCATTER,
        [f"{base}_{i + 1}of{len(tensors)}" for i in range(len(tensors))],
        [TYPE_NUMBERS[tensor.dtype] for tensor in tensors],
        [tensor.shape for tensor in tensors],
        [source.data_ptr() for source in sources],
        [output.data_ptr() for output in outputs],
        op,
        prescale_factor,
        postscale_factor,
        set_id(process_set),
    )

    def finish() -> Tuple[torch.Tensor, ...]:
        return tuple(_result(output, tensor) for output, tensor in zip(outputs, tensors))

    return _handles.remember(number, Pending(native_handles, sources, finish))
