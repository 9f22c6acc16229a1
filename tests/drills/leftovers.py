"""What a job may not leave behind: processes, files in /dev/shm, sockets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterable

sys.path.insert(0, str(Path(__file__).parent.parent))  # support/

import outside  # noqa: E402
from support.ssh_hosts import PORT, SshHosts  # noqa: E402

_NOBODYS = "0"  # an inode: closed, but the kernel still says so to the other end, or remembers it


def processes_with(mark: str) -> list[int]:
    """Processes that have `mark` in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark.encode() in file.read():
                        found.append(int(entry))
            except OSError:
                continue
    return found


def in_shared_memory(pids: Iterable[int]) -> list[str]:
    """Segments that these ranks have made and that still have a name."""
    any_of = "|".join(str(pid) for pid in pids)
    return [name for name in os.listdir("/dev/shm") if re.match(f"hvdx-({any_of})-", name)]


class LastOne:
    """How long a launcher has been the last of its job's processes."""

    def __init__(self, mark: str, launcher: int) -> None:
        self._mark = mark
        self._launcher = launcher
        self._had_others = False
        self._since: float | None = None

    def seconds(self) -> float:
        """0 while others live (a process that has ended but is not waited for does not), and
        before there were any."""
        if others := set(processes_with(self._mark)) - {self._launcher}:
            self._had_others = bool(others)
            self._since = None
        elif self._had_others and self._since is None:
            self._since = time.monotonic()
        return 0.0 if self._since is None else time.monotonic() - self._since


class SocketWatch:
    """The sockets of a job's processes, launcher included, from its launch on: look() often, and
    ask what is left() when all processes have gone."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._seen: set[str] = set()

    def look(self) -> None:
        """Remembers the sockets that there are now."""
        for pid in processes_with(self._mark):
            self._seen |= outside.sockets_of(pid)

    @property
    def count(self) -> int:
        """How many it has seen: a check of none would prove nothing."""
        return len(self._seen)

    def left(self) -> list[str]:
        """Those that somebody still holds, although no process with the mark lives."""
        rows = [(row[2], f"port {row[0]}, state {row[1]}") for row in outside.tcp_table()]
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
            rows += [(line.split()[6], line.strip()) for line in list(file)[1:]]
        return [what for inode, what in rows if inode in self._seen]


def sockets_on(hosts: SshHosts) -> list[str]:
    """Sockets that somebody holds inside of the hosts' namespaces; not what listens for ssh."""
    left = []
    for host in range(hosts.count):
        table = subprocess.run(
            hosts.inside(host, ["cat", "/proc/net/tcp"]),
            capture_output=True, text=True, check=False, timeout=20,
        ).stdout  # fmt: skip
        for row in outside.rows_of(table):
            if row[2] != _NOBODYS and row[:2] != (PORT, outside.LISTEN):
                left.append(f"on host {host}: port {row[0]}, state {row[1]}")
    return left
