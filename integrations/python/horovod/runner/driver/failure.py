"""How a worker ended, and how that is told."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from horovod.runner.common.util.hosts import SlotInfo

# What shells mean by them, and what helps.
_HINTS = {
    126: ": a command there may not be run; see its permissions on that host",
    127: ": a command was not found there; install it on that host, or give a path that every "
    "host has",
}


@dataclass
class Exit:
    """The end of one rank: what waitpid() said, or that its host was lost."""

    slot: SlotInfo
    wait_status: int
    lost: str = ""  # why, if the agent of its host is gone

    @property
    def code(self) -> int:
        """As a shell counts: 128 + n for signal n."""
        if self.lost:
            return 255
        if os.WIFSIGNALED(self.wait_status):
            return 128 + os.WTERMSIG(self.wait_status)
        return os.WEXITSTATUS(self.wait_status)

    def describe(self) -> str:
        """`exited with code 3`, `was killed by signal 11 (SIGSEGV)`."""
        if self.lost:
            return f"was lost with its host: {self.lost}"
        if not os.WIFSIGNALED(self.wait_status):
            hint = _HINTS.get(self.code, "")
            return f"exited with code {self.code}{hint}"
        number = os.WTERMSIG(self.wait_status)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = "unknown"
        hint = ", perhaps because memory ran out" if number == signal.SIGKILL else ""
        return f"was killed by signal {number} ({name}){hint}"


def failure_message(first: Exit, tail: list[str]) -> str:
    """The job's last word: who failed first, where, how, and what it said."""
    slot = first.slot
    text = (
        "Horovod detected that one or more processes exited with non-zero status; "
        "all others were ended. The first was:\n"
        f"Process name: {slot.rank}\n"
        f"Exit code: {first.code}\n"
        f"Rank {slot.rank} (local rank {slot.local_rank}) on host {slot.hostname} "
        f"{first.describe()}."
    )
    if tail:
        text += "\nThe last lines of its output:\n" + "\n".join("  " + line for line in tail)
    return text
