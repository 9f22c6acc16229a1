"""Optimizers that may still owe their parameters an update, for whoever is about to read these."""

import atexit
import sys
import warnings
import weakref
from typing import Any

from horovodx.errors import HorovodInternalError

_owing: "weakref.WeakSet[Any]" = weakref.WeakSet()


def remember(optimizer: Any) -> None:
    """From now on flush_all() asks this one too, and the end of the process."""
    if not _owing:
        # Others may not have come to the step that this process ends after.
        atexit.unregister(_flush_at_exit)
        atexit.register(_flush_at_exit)
    _owing.add(optimizer)


def flush_all() -> None:
    """Every update that was left for the next forward is done now."""
    for optimizer in list(_owing):
        optimizer.flush()


def _flush_at_exit() -> None:
    if not hasattr(sys, "last_value"):  # it does not end by an exception
        flush_before_the_end()


def flush_before_the_end() -> None:
    """The same before the engine ends: what can't arrive any more is given up, and said."""
    for optimizer in list(_owing):
        try:
            optimizer.flush()
        except HorovodInternalError as error:
            warnings.warn(f"the last update of parameters was not done: {error}", stacklevel=3)
            optimizer._abandon_arriving()
