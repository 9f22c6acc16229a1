"""Waiting for each other: join and barrier."""

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch import _compiled, _handles
from horovod.torch._basics import set_id
from horovod.torch._flushing import flush_all
from horovod.torch._handles import Pending
from horovodx import _horovodx as native

_JOIN = 3
_BARRIER = 6
_FLOAT32 = 7


def join(device: int = -1) -> int:
    """Says that this rank has no more data, and waits until all have said so.

    Until then it takes part in others' allreduces with zeros. Returns the rank that joined last.
    `device` is where those zeros would be; they take no memory of yours.
    """
    return int(_handles.synchronize(join_async()))


def join_async() -> int:
    """The same without waiting: synchronize(handle) returns the rank that joined last."""
    flush_all()
    number = _handles.next_number()
    _handles.joins += 1
    handle = native.submit(_JOIN, "join.noname", _FLOAT32, [], 0, 0)
    return _handles.remember(number, Pending([handle], (), lambda: native.last_joined(handle)))


def barrier(process_set: ProcessSet = global_process_set) -> None:
    """Waits until every rank of the set is here."""
    if _compiled.is_compiling():
        _compiled.operators.barrier(set_id(process_set))
        return
    _handles.synchronize(barrier_async(process_set))


def barrier_async(process_set: ProcessSet) -> int:
    """The same without waiting."""
    number = _handles.next_number()
    handle = native.submit(
        _BARRIER, "barrier.noname", _FLOAT32, [], 0, 0, process_set=set_id(process_set)
    )
    return _handles.remember(number, Pending([handle], (), lambda: None))
