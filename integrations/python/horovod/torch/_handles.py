"""Handles: numbers that scripts hold for operations under way.

They count from 1, every operation takes one, and an unnamed operation is named by its number; so
unnamed calls pair up if all ranks make the same calls in the same order.
"""

import itertools
from typing import Any, Callable, Dict, Iterator, List, Optional

from horovod.torch import _compiled
from horovodx import _horovodx as native

_numbers: Iterator[int] = itertools.count(1)
_handle_map: Dict[int, "Pending"] = {}
# Grows with every init and shutdown: what was registered with an engine before is gone.
generation = 0
# Grows with every join, in which ranks may have missed what the others agreed on.
joins = 0
# What a caller who was interrupted let go of while the engine may still write to it.
abandoned: List[Any] = []


class Pending:
    """An operation under way: its handles in the engine, its memory, and what to do at the end."""

    __slots__ = ("native_handles", "kept", "finish")

    def __init__(
        self, native_handles: List[int], kept: Any, finish: Callable[[], Any]
    ) -> None:
        self.native_handles = native_handles
        self.kept = kept  # memory that the engine reads and writes
        self.finish = finish  # makes the result; called once, after all went well

    def wait(self) -> Any:
        """Waits and returns the result; the engine forgets the handles."""
        try:
            native.wait_all(self.native_handles)
            return self.finish()
        except KeyboardInterrupt:
            abandoned.append(self)
            raise
        finally:
            native.release_all(self.native_handles)


def next_number() -> int:
    """The number of a new operation."""
    return next(_numbers)


def remember(number: int, pending: Pending) -> int:
    """Makes `number` a handle for `pending`."""
    _handle_map[number] = pending
    return number


def forget_all() -> None:
    """A new life: handles count from 1 again, those of the old life mean nothing."""
    global _numbers, generation
    _handle_map.clear()
    abandoned.clear()
    _numbers = itertools.count(1)
    generation += 1


def name_for(prefix: str, name: Optional[str], number: int) -> str:
    """The name under which all ranks know the operation."""
    return f"{prefix}.{name}" if name else f"{prefix}.noname.{number}"


def poll(handle: int) -> bool:
    """True if the operation has ended, so that synchronize() does not block."""
    pending = _handle_map.get(handle)
    if pending is None:
        raise ValueError(f"Handle {handle} was not created or has been cleared.")
    return all([native.poll(one) for one in pending.native_handles])


def synchronize(handle: int) -> Any:
    """Waits for an operation and returns its result; None for a handle that is not in use.

    Raises HorovodInternalError if it failed, ValueError if it was asked for wrongly.
    """
    if _compiled.is_compiling():
        return _compiled.operators.synchronize(handle)
    pending = _handle_map.pop(handle, None)
    return None if pending is None else pending.wait()
