"""Where the time of a recorded step went, in one table, and what other schedules would have made of
it by the costs that the recording itself shows."""

from __future__ import annotations

from typing import Any

from horovodx.sim.core import SCHEDULES, Run, Step, fitted, simulate
from horovodx.sim.timeline import Group, Recorded
from horovodx.sim.units import in_bytes, in_time

# Shorter pauses of the line are hand-overs, not waiting.
_PAUSE = 50e-6
_MOST_NAMED = 4  # buckets in a sentence


def _waits(step: Recorded) -> list[float]:
    """How long the line was idle before each bucket."""
    free, waits = step.first_ready, []
    for group in step.groups:
        waits.append(max(0.0, group.started - free))
        free = max(free, group.ended)
    return waits


def _label(group: Group) -> str:
    first = group.operations[0].tensor
    more = len(group.operations) - 1
    return f"{first} and {more} more" if more else first


def _why(group: Group) -> str:
    """Why a bucket started when it did."""
    queued = group.started - group.last.ready
    if queued <= _PAUSE:
        return f"waited for {group.last.tensor}"
    return f"ready {in_time(queued)} before it started"


def exposed_sentence(step: Recorded) -> str:
    """What happened between the last gradient and the last result."""
    parts: list[tuple[float, str]] = []
    idle = 0.0
    free = step.last_ready
    for number, group in enumerate(step.groups):
        if group.ended <= step.last_ready:
            continue
        start = max(group.started, step.last_ready)
        idle += max(0.0, start - free)
        took = group.ended - start
        parts.append((took, f"bucket {number} took {in_time(took)}, {_why(group)}"))
        free = max(free, group.ended)
    longest = sorted(parts, reverse=True)[:_MOST_NAMED]
    said = [text for text in parts if text in longest]  # in order of time
    words = [text for _, text in said]
    if more := len(parts) - len(said):
        rest = sum(took for took, _ in parts) - sum(took for took, _ in said)
        words.append(f"{more} other buckets took {in_time(rest)}")
    if idle > _PAUSE:
        words.append(f"the line was idle for {in_time(idle)}")
    return f"exposed {in_time(step.ended - step.last_ready)}: " + "; ".join(words)


_SAID = ("predicted start", "took", "algorithm")


def _said(group: Group, zero: float) -> tuple[str, str, str]:
    """What the engine itself said about a bucket when it started."""
    algorithm = group.algorithm or "-"
    if group.predicted is None:
        return "-", "-", algorithm
    start, end = group.predicted
    return f"{1e3 * (start - zero):.2f}", f"{1e3 * (end - start):.2f}", algorithm


def table(step: Recorded) -> str:
    zero = step.first_ready
    titles = ("bucket", "tensors", "bytes", "ready ms", "start ms", "took ms", "line idle ms", "")
    said = any(group.predicted or group.algorithm for group in step.groups)
    rows = [titles[:-1] + _SAID + titles[-1:] if said else titles]
    for number, (group, wait) in enumerate(zip(step.groups, _waits(step))):
        rows.append(
            (
                f"{number}",
                f"{len(group.operations)}",
                in_bytes(group.bytes),
                f"{1e3 * (group.last.ready - zero):.2f}",
                f"{1e3 * (group.started - zero):.2f}",
                f"{1e3 * (group.ended - group.started):.2f}",
                f"{1e3 * wait:.2f}" if wait > _PAUSE else "-",
                *(_said(group, zero) if said else ()),
                f"{_label(group)}: {_why(group)}",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return "\n".join(
        "  ".join([cell.rjust(w) for cell, w in zip(row, widths)] + [row[-1]]).rstrip()
        for row in rows
    )


def samples(steps: list[Recorded]) -> list[tuple[int, float]]:
    """(bytes, seconds) of all allreduces recorded."""
    return [
        (group.bytes, group.ended - group.started)
        for step in steps
        for group in step.groups
        if group.operations[0].kind == "ALLREDUCE" and group.bytes > 0
    ]


def replay(steps: list[Recorded], step: Recorded) -> dict[str, Step]:
    """The same gradients under each schedule, at the costs fitted to the whole recording."""
    operations = sorted(
        (op for group in step.groups for op in group.operations), key=lambda op: op.ready
    )
    lines = [f"sample {size} {seconds!r}" for size, seconds in samples(steps)]
    lines += [f"tensor {op.ready - step.first_ready!r} {op.bytes}" for op in operations]
    runs = [Run(schedule, "fitted", 1, 1) for schedule in SCHEDULES]
    return {run.schedule: found for run, found in zip(runs, simulate(lines, runs))}


def _cost_text(pieces: list[tuple[int, float, float]]) -> str:
    parts = []
    for start, latency, per_byte in pieces:
        line = in_time(latency)
        if per_byte > 0:
            line += f" + {in_bytes(1 / per_byte)}/s"
        parts.append(f"from {in_bytes(start)} {line}" if start else line)
    return "; ".join(parts)


def explain(steps: list[Recorded], number: int) -> str:
    step = steps[number]
    count = sum(len(group.operations) for group in step.groups)
    busy = sum(group.ended - group.started for group in step.groups)
    text = [
        f"step {number} of {len(steps)}: {count} tensors in {len(step.groups)} buckets, "
        f"{in_bytes(sum(group.bytes for group in step.groups))}",
        f"{in_time(step.ended - step.first_ready)} from the first gradient to the last result: "
        f"gradients came for {in_time(step.last_ready - step.first_ready)}, the line was busy for "
        f"{in_time(busy)}",
        exposed_sentence(step),
        "",
        table(step),
    ]
    measured = samples(steps)
    if measured:
        cost = _cost_text(fitted(measured))
        text += ["", f"an allreduce takes (fitted to {len(measured)}): {cost}"]
        text.append("by that cost, from the first gradient to the last result:")
        text.append(f"  recorded {1e3 * (step.ended - step.first_ready):9.2f} ms")
        for schedule, found in replay(steps, step).items():
            end = max(bucket.ended for bucket in found.buckets)
            text.append(f"  {schedule:8} {1e3 * end:9.2f} ms in {len(found.buckets)} buckets")
    return "\n".join(text)


def as_json(steps: list[Recorded], number: int) -> dict[str, Any]:
    step = steps[number]
    zero = step.first_ready
    measured = samples(steps)
    return {
        "step": number,
        "steps": len(steps),
        "seconds": step.ended - zero,
        "exposed_seconds": step.ended - step.last_ready,
        "buckets": [
            {
                "tensors": [op.tensor for op in group.operations],
                "bytes": group.bytes,
                "waited_for": group.last.tensor,
                "ready_seconds": group.last.ready - zero,
                "start_seconds": group.started - zero,
                "end_seconds": group.ended - zero,
                "line_idle_seconds": wait,
                "algorithm": group.algorithm or None,
                "predicted_start_seconds": group.predicted and group.predicted[0] - zero,
                "predicted_end_seconds": group.predicted and group.predicted[1] - zero,
            }
            for group, wait in zip(step.groups, _waits(step))
        ],
        "fitted": [
            {"from_bytes": start, "latency_seconds": latency, "seconds_per_byte": per_byte}
            for start, latency, per_byte in (fitted(measured) if measured else [])
        ],
        "predicted_seconds": {
            schedule: max(bucket.ended for bucket in found.buckets)
            for schedule, found in (replay(steps, step) if measured else {}).items()
        },
    }
