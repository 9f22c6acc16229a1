"""The functions of Horovod's native torch module, by the names that other packages call.

There is one for each operation and type, such as `horovod_torch_allreduce_async_torch_FloatTensor`.
All return a handle for `horovod_torch_poll` and `horovod_torch_wait_and_clear`.
"""

import re
from typing import Any, Callable, List, Optional, Sequence, Union

import torch

from horovod.common.process_sets import ProcessSet, _temp_process_set_object
from horovod.torch import _handles
from horovod.torch._allreduce import start, start_group
from horovod.torch._broadcast import _start as start_broadcast
from horovod.torch._gather import allgather_async, alltoall_async, grouped_allgather_async
from horovod.torch._handles import Pending
from horovod.torch._handles import poll as horovod_torch_poll
from horovod.torch._join_barrier import _BARRIER as BARRIER
from horovod.torch._join_barrier import _FLOAT32 as FLOAT32
from horovod.torch._join_barrier import _JOIN as JOIN
from horovod.torch._reducescatter import grouped_reducescatter_async, reducescatter_async
from horovodx import _horovodx as native

Name = Optional[Union[str, bytes]]


def _text(name: Name) -> Optional[str]:
    return (name.decode() if isinstance(name, bytes) else name) or None


def _set(process_set_id: int) -> ProcessSet:
    return _temp_process_set_object(process_set_id)


def _into(handle: int, outputs: Sequence[torch.Tensor]) -> int:
    """The same handle, its results written into tensors that take their size."""
    pending = _handles._handle_map[handle]
    make = pending.finish

    def finish() -> Any:
        results = make()
        parts = results if isinstance(results, tuple) else (results,)
        for output, result in zip(outputs, parts):
            output.resize_(result.shape).copy_(result)
        return results

    _handles._handle_map[handle] = Pending(pending.native_handles, pending.kept, finish)
    return handle


def _allreduce(
    tensor: torch.Tensor,
    output: torch.Tensor,
    divisor: int,
    name: Name,
    reduce_op: int,
    prescale_factor: float,
    postscale_factor: float,
    process_set_id: int,
) -> int:
    return start(
        tensor,
        output,
        _text(name),
        reduce_op,
        prescale_factor,
        postscale_factor / divisor,
        _set(process_set_id),
    )


def _grouped_allreduce(
    tensors: List[torch.Tensor],
    outputs: List[torch.Tensor],
    divisor: int,
    name: Name,
    reduce_op: int,
    prescale_factor: float,
    postscale_factor: float,
    process_set_id: int,
) -> int:
    return start_group(
        tensors,
        outputs,
        _text(name),
        reduce_op,
        prescale_factor,
        postscale_factor / divisor,
        _set(process_set_id),
    )


def _allgather(tensor: torch.Tensor, output: torch.Tensor, name: Name, process_set_id: int) -> int:
    return _into(allgather_async(tensor, _text(name), _set(process_set_id)), [output])


def _grouped_allgather(
    tensors: List[torch.Tensor], outputs: List[torch.Tensor], name: Name, process_set_id: int
) -> int:
    return _into(grouped_allgather_async(tensors, _text(name), _set(process_set_id)), outputs)


def _broadcast(
    tensor: torch.Tensor, output: torch.Tensor, root_rank: int, name: Name, process_set_id: int
) -> int:
    return start_broadcast(tensor, output, root_rank, _text(name), _set(process_set_id))


def _alltoall(
    tensor: torch.Tensor,
    splits: Optional[torch.Tensor],
    output: torch.Tensor,
    output_received_splits: torch.Tensor,
    name: Name,
    process_set_id: int,
) -> int:
    given = None if splits is None or splits.numel() == 0 else splits
    handle = alltoall_async(tensor, given, _text(name), _set(process_set_id))
    return _into(handle, [output, output_received_splits])


def _reducescatter(
    tensor: torch.Tensor,
    output: torch.Tensor,
    name: Name,
    reduce_op: int,
    process_set_id: int,
    prescale_factor: float,
    postscale_factor: float,
) -> int:
    handle = reducescatter_async(
        tensor, _text(name), reduce_op, _set(process_set_id), prescale_factor, postscale_factor
    )
    return _into(handle, [output])


def _grouped_reducescatter(
    tensors: List[torch.Tensor],
    outputs: List[torch.Tensor],
    name: Name,
    reduce_op: int,
    process_set_id: int,
    prescale_factor: float,
    postscale_factor: float,
) -> int:
    handle = grouped_reducescatter_async(
        tensors, _text(name), reduce_op, _set(process_set_id), prescale_factor, postscale_factor
    )
    return _into(handle, outputs)


def horovod_torch_join(output_tensor: torch.Tensor, device: int) -> int:
    """Joins; the last joined rank is written into `output_tensor`."""
    number = _handles.next_number()
    handle = native.submit(JOIN, "join.noname", FLOAT32, [], 0, 0)
    return _handles.remember(
        number, Pending([handle], (), lambda: output_tensor.fill_(native.last_joined(handle)))
    )


def horovod_torch_barrier(process_set_id: int) -> int:
    """A barrier that ends when every rank of the set is there."""
    number = _handles.next_number()
    handle = native.submit(
        BARRIER, "barrier.noname", FLOAT32, [], 0, 0, process_set=process_set_id
    )
    return _handles.remember(number, Pending([handle], (), lambda: None))


def horovod_torch_wait_and_clear(handle: int) -> None:
    """Waits; the outputs hold the results afterwards."""
    _handles.synchronize(handle)


def horovod_torch_reset() -> None:
    """Forgets all handles."""
    _handles.forget_all()


_OPERATIONS = {
    "allreduce": _allreduce,
    "grouped_allreduce": _grouped_allreduce,
    "allgather": _allgather,
    "grouped_allgather": _grouped_allgather,
    "broadcast": _broadcast,
    "alltoall": _alltoall,
    "reducescatter": _reducescatter,
    "grouped_reducescatter": _grouped_reducescatter,
}
_NAME = re.compile(r"horovod_torch_([a-z_]+)_async_torch_(cuda_)?[A-Z]\w*Tensor")


def __getattr__(name: str) -> Callable[..., int]:
    found = _NAME.fullmatch(name)
    if found and found.group(1) in _OPERATIONS:
        return _OPERATIONS[found.group(1)]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "horovod_torch_barrier",
    "horovod_torch_join",
    "horovod_torch_poll",
    "horovod_torch_reset",
    "horovod_torch_wait_and_clear",
]
