"""Cells side by side: each a process of its own, as many as the machine bears."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

_LONGEST = 5 * 3600.0  # seconds; a cell gives up by itself before that
_LOOK = 0.5
_GRACE = 60.0  # for hosts to be taken down
_LINES = 12  # of the log of a cell that failed


@dataclass(frozen=True)
class Need:
    """What a cell takes of the machine."""

    memory: int  # bytes, at most
    alone: bool  # beside another one it would measure the processor


class Queued(Protocol):
    """What is asked of a cell here."""

    @property
    def name(self) -> str: ...
    def about(self) -> str: ...
    def need(self) -> Need: ...


Start = Callable[..., "subprocess.Popen[bytes]"]  # (cell, folder, log)


def may_start(need: Need, beside: list[Need], most: int, memory: int) -> bool:
    """Pure. One that is too large for the machine is tried, with nothing beside it."""
    if not beside:
        return True
    if need.alone or any(other.alone for other in beside) or len(beside) >= most:
        return False
    return need.memory + sum(other.memory for other in beside) <= memory


def free_memory() -> int:
    """Bytes that may be had without pushing anything out."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    raise RuntimeError("/proc/meminfo has no MemAvailable")


@dataclass
class _Running:
    cell: Queued
    process: subprocess.Popen[bytes]
    log: IO[str]
    since: float

    def wait(self) -> None:
        """Once it has been told to end: it takes down its hosts first."""
        try:
            self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def run_all(cells: list[Queued], out: Path, most: int, start: Start) -> int:
    """Runs them all, also when some fail; how many did."""
    memory = free_memory()
    waiting, running, failed = list(cells), [], 0
    try:
        while waiting or running:
            beside = [one.cell.need() for one in running]
            fits = [c for c in waiting if may_start(c.need(), beside, most, memory)]
            if fits:
                waiting.remove(fits[0])
                running.append(_begin(fits[0], out, start))
                continue
            time.sleep(_LOOK)
            ended = [one for one in running if _has_ended(one)]
            running = [one for one in running if one not in ended]
            for one in ended:
                failed += one.process.returncode != 0
                done = len(cells) - len(waiting) - len(running)
                _say(one, out, f"{done} of {len(cells)}")
    finally:
        for one in running:
            one.process.terminate()
        for one in running:
            one.wait()
            one.log.close()
    return failed


def _begin(cell: Queued, out: Path, start: Start) -> _Running:
    print(f"--- {cell.about()}: started", flush=True)
    log = (out / f"{cell.name}.log").open("w", encoding="utf-8")
    return _Running(cell, start(cell, out, log), log, time.monotonic())


def _has_ended(one: _Running) -> bool:
    if time.monotonic() - one.since > _LONGEST:
        one.process.terminate()
        one.wait()
    if one.process.poll() is None:
        return False
    one.log.close()
    return True


def _say(one: _Running, out: Path, count: str) -> None:
    took = f"after {time.monotonic() - one.since:.0f} s"
    code = one.process.returncode
    if code == 0:
        print(f"--- {count}: {one.cell.about()}: done {took}", flush=True)
        return
    log = out / f"{one.cell.name}.log"
    print(f"--- {count}: {one.cell.about()}: failed with code {code} {took}; {log} ends:")
    last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES:]
    print("\n".join(f"    {line}" for line in last), flush=True)
