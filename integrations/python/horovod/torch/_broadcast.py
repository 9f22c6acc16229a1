"""Broadcast, without gradients. `root_rank` is a global rank, also in a process set."""

from typing import Callable, Optional

import torch

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch import _compiled, _handles
from horovod.torch._basics import set_id
from horovod.torch._handles import Pending
from horovod.torch._tensor import MOVED, TYPE_NUMBERS, check, on_host
from horovodx import _horovodx as native

_BROADCAST = 2


def _start(
    tensor: torch.Tensor,
    output: torch.Tensor,
    root_rank: int,
    name: Optional[str],
    process_set: ProcessSet,
) -> int:
    check(tensor, MOVED)
    number = _handles.next_number()
    source = on_host(tensor)
    target = output if output.device.type == "cpu" else source
    native_handle = native.submit(
        _BROADCAST,
        _handles.name_for("broadcast", name, number),
        TYPE_NUMBERS[tensor.dtype],
        tensor.shape,
        source.data_ptr(),
        target.data_ptr(),
        process_set=set_id(process_set),
        root=root_rank,
    )
    finish: Callable[[], torch.Tensor] = (
        (lambda: output) if target is output else (lambda: output.copy_(target))
    )
    return _handles.remember(number, Pending([native_handle], (source, target), finish))


def broadcast_async(
    tensor: torch.Tensor,
    root_rank: int,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts to give the root's tensor to all, in a new tensor."""
    check(tensor, MOVED)
    return _start(tensor, torch.empty_like(tensor), root_rank, name, process_set)


def broadcast_async_(
    tensor: torch.Tensor,
    root_rank: int,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> int:
    """Starts to give the root's tensor to all, in place."""
    return _start(tensor, tensor, root_rank, name, process_set)


def broadcast_(
    tensor: torch.Tensor,
    root_rank: int,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> torch.Tensor:
    """Gives the root's tensor to all, in place, and returns it. Not differentiable."""
    if _compiled.is_compiling():
        return _compiled.operators.broadcast_(  # type: ignore[no-any-return]
            tensor, root_rank, name, set_id(process_set)
        )
    result: torch.Tensor = _handles.synchronize(
        broadcast_async_(tensor, root_rank, name, process_set)
    )
    return result
