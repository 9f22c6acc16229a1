"""Times of the slowest rank, and how they are shown."""

import json
import statistics
import time
from typing import Any, Callable, Dict, List, Sequence


def slowest(hvd: Any, seconds: Sequence[float]) -> List[float]:
    """Of each measurement, the time of the rank that took longest."""
    import torch

    times = torch.tensor(list(seconds), dtype=torch.float64)
    result: List[float] = hvd.allreduce(times, op=hvd.Max, name="bench.slowest").tolist()
    return result


def timed(work: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median(values: Sequence[float]) -> float:
    """The middle one: a noisy machine moves it least."""
    return statistics.median(values)


def microseconds(seconds: float) -> str:
    """A time for a table."""
    value = seconds * 1e6
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def size_name(size: int) -> str:
    """4 B, 64 KiB, 16 MiB."""
    for unit, bytes_each in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_each:
            return f"{size // bytes_each} {unit}"
    return f"{size} B"


def write_json(path: str, what: Dict[str, Any]) -> None:
    """The results as a file."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(what, file, indent=1)
