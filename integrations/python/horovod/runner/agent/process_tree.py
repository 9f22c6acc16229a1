"""Linux: keeping hold of a tree of processes, and ending all of it."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Dict, Iterable, List

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def adopt_orphans() -> None:
    """Descendants whose parent has ended become children of this process, not of init."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """This process gets signal `number` when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, number)


def _parents() -> Dict[int, int]:
    """The parent of every process that can be seen; zombies do not count."""
    parents = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry, "rb") as stat:
                state, parent = stat.read().rpartition(b")")[2].split()[:2]
        except OSError:
            continue  # has just ended
        if state not in (b"Z", b"X"):
            parents[int(entry)] = int(parent)
    return parents


def descendants(root: int) -> List[int]:
    """Everything alive below `root`, parents before children."""
    children: Dict[int, List[int]] = {}
    for pid, parent in _parents().items():
        children.setdefault(parent, []).append(pid)
    found: List[int] = []
    front = [root]
    while front:
        front = [child for pid in front for child in children.get(pid, [])]
        found += front
    return found


def signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    """Sends a signal to each of them; those that have ended or changed owner are passed over."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass
