"""A simulated step as a Chrome trace, to open beside a real one (chrome://tracing, Perfetto)."""

from __future__ import annotations

from typing import Any

from horovodx.sim.core import Step
from horovodx.sim.workload import Workload

_COMPUTE, _LINE = 1, 2


def _name(pid: int, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}


def _span(
    pid: int, name: str, start: float, end: float, args: dict[str, Any] | None = None
) -> dict[str, Any]:
    event: dict[str, Any] = {"ph": "X", "name": name, "pid": pid, "tid": 0}
    event |= {"ts": round(1e6 * start, 3), "dur": round(1e6 * (end - start), 3)}
    return event | ({"args": args} if args else {})


def chrome_trace(workload: Workload, step: Step) -> list[dict[str, Any]]:
    """Microseconds from the start of the forward pass."""
    events = [_name(_COMPUTE, "simulated: computing"), _name(_LINE, "simulated: communication")]
    events.append(_span(_COMPUTE, "forward", 0.0, workload.forward))
    now = workload.forward
    layers = workload.arriving()
    for layer in layers:
        events.append(_span(_COMPUTE, f"backward {layer.name}", now, now + layer.backward))
        now += layer.backward
    for number, bucket in enumerate(step.buckets):
        args = {
            "bucket": number,
            "bytes": bucket.bytes,
            "algorithm": bucket.algorithm,
            "waited_for": layers[bucket.waited_for].name,
            "tensors": [layer.name for layer in layers[bucket.first : bucket.end]],
        }
        start = workload.forward
        kind = "ALLREDUCE" if bucket.gather is None else "REDUCESCATTER"
        events.append(_span(_LINE, kind, start + bucket.started, start + bucket.ended, args))
        if bucket.gather is not None:
            begin, end = bucket.gather
            events.append(_span(_LINE, "ALLGATHER", start + begin, start + end, args))
    return events
