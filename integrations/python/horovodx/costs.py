"""What the engine has found out about the time an allreduce takes."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from horovodx._horovodx import counter, describe


class Link(NamedTuple):
    """A message takes latency + bytes * seconds_per_byte."""

    latency: float
    seconds_per_byte: float


class AllreduceCost(NamedTuple):
    """The first four as of the start of the last plan."""

    samples: int  # allreduces measured
    latency: float  # seconds, of next to nothing
    mebibyte: float  # seconds, of 1 MiB
    plans_made_anew: int  # because this or the readiness of gradients had moved
    host: Link | None = None  # between ranks of a host, fitted to allreduces over links
    net: Link | None = None  # between hosts
    algorithms: dict[str, list[tuple[int, float]]] = {}  # (bytes, seconds) by algorithm


def _described(what: str) -> dict[str, Any]:
    text = describe(what)
    return json.loads(text) if text else {}


def _link(level: dict[str, float] | None) -> Link | None:
    return None if level is None else Link(level["latency"], level["seconds_per_byte"])


def allreduce_cost() -> AllreduceCost | None:
    """On rank 0; None elsewhere, before the first plan, and where nothing asks for costs: on one
    host through shared memory, unless the schedule does (optimal, mgwfbp), or tuning, or a
    timeline."""
    samples = counter("cost_samples")
    if samples <= 0:
        return None
    costs = _described("allreduce_costs")
    levels = costs.get("levels") or {}
    return AllreduceCost(
        samples,
        counter("cost_0_ns") / 1e9,
        counter("cost_1mib_ns") / 1e9,
        counter("plans_made_anew"),
        _link(levels.get("host")),
        _link(levels.get("net")),
        {
            name: [(int(point["bytes"]), float(point["seconds"])) for point in points]
            for name, points in costs.get("algorithms", {}).items()
        },
    )


def allreduce_selection() -> dict[str, Any] | None:
    """Which allreduce algorithm runs at which size, and why: on rank 0; None elsewhere. The rows of
    "table" have from, to (None: no limit), algorithm, why, and seconds, the time predicted."""
    return _described("allreduce_selection") or None
