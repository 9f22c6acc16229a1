"""Asks hvdx-sim-core, the native half: the engine's own schedules and costs do the computing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field

from horovodx.library import library_path
from horovodx.sim.units import BadInput

SCHEDULES = ("wfbp", "fusion", "buckets", "mgwfbp", "optimal")
_TIME_LIMIT = 3600  # seconds


@dataclass
class Cluster:
    """Links as (latency in seconds, bytes a second)."""

    host: tuple[float, float] = (5e-6, 10e9)
    net: tuple[float, float] = (50e-6, 1.25e9)
    reduce: float = 10e9  # bytes a second that are added up
    windows: bool = True
    rules: str = ""
    threshold: int = 128 << 20
    bucket_bytes: int = 25 << 20

    def lines(self) -> list[str]:
        return [
            f"host {self.host[0]!r} {1 / self.host[1]!r}",
            f"net {self.net[0]!r} {1 / self.net[1]!r}",
            f"reduce {1 / self.reduce!r}",
            f"windows {int(self.windows)}",
            f"threshold {self.threshold}",
            f"bucket_bytes {self.bucket_bytes}",
            *([f"rules {self.rules}"] if self.rules else []),
        ]


@dataclass
class Bucket:
    """Gradients [first, end) in order of readiness; seconds from the start of the backward pass."""

    first: int
    end: int
    waited_for: int
    bytes: int
    ready: float
    started: float
    ended: float
    algorithm: str
    gather: tuple[float, float] | None = None


@dataclass
class Step:
    """A simulated step."""

    seconds: float
    exposed: float
    busy: float
    buckets: list[Bucket] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """One question."""

    schedule: str
    algorithm: str
    hosts: int
    ranks_per_host: int
    split: bool = False

    @property
    def workers(self) -> int:
        return self.hosts * self.ranks_per_host

    def line(self) -> str:
        where = f"{self.hosts} {self.ranks_per_host}"
        return f"run {self.schedule} {self.algorithm} {where} {int(self.split)}"


def ask(lines: Iterable[str]) -> list[list[str]]:
    """The words of every line of the answer."""
    program = library_path("hvdx-sim-core")
    try:
        done = subprocess.run(
            [program], input="\n".join(lines), capture_output=True, text=True, timeout=_TIME_LIMIT
        )
    except OSError as error:
        raise BadInput(f"cannot start {program}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"no answer within {_TIME_LIMIT} s; ask for fewer workers") from error
    if done.returncode != 0:
        why = done.stderr.strip().removeprefix("hvdx-sim: ")
        raise BadInput(why or f"{program} ended with code {done.returncode}")
    return [line.split() for line in done.stdout.splitlines()]


def _bucket(words: list[str]) -> Bucket:
    first, end, waited_for, size = (int(w) for w in words[:4])
    ready, started, ended = (float(w) for w in words[4:7])
    gather = (float(words[8]), float(words[9]))
    bucket = Bucket(first, end, waited_for, size, ready, started, ended, algorithm=words[7])
    bucket.gather = gather if any(gather) else None
    return bucket


def simulate(description: Iterable[str], runs: Iterable[Run]) -> list[Step]:
    """One step for each run, in order."""
    steps: list[Step] = []
    for verb, *words in ask([*description, *(run.line() for run in runs)]):
        if verb == "run":
            steps.append(Step(float(words[0]), float(words[1]), float(words[2])))
        else:
            steps[-1].buckets.append(_bucket(words))
    return steps


def fitted(samples: Iterable[tuple[int, float]]) -> list[tuple[int, float, float]]:
    """(from bytes, latency, seconds a byte) of the lines through (bytes, seconds)."""
    lines = [f"sample {size} {seconds!r}" for size, seconds in samples]
    return [
        (int(words[1]), float(words[2]), float(words[3]))
        for words in ask([*lines, "fit"])
        if words[0] == "piece"
    ]
