"""What the engine has found out about the time an allreduce takes."""

from __future__ import annotations

from typing import NamedTuple

from horovodx._horovodx import counter


class AllreduceCost(NamedTuple):
    """As of the start of the last plan."""

    samples: int  # allreduces measured
    latency: float  # seconds, of next to nothing
    mebibyte: float  # seconds, of 1 MiB
    plans_made_anew: int  # because this or the readiness of gradients had moved


def allreduce_cost() -> AllreduceCost | None:
    """On rank 0, with HOROVODX_SCHEDULE=optimal or mgwfbp; None elsewhere, and before a plan."""
    samples = counter("cost_samples")
    if samples <= 0:
        return None
    return AllreduceCost(
        samples,
        counter("cost_0_ns") / 1e9,
        counter("cost_1mib_ns") / 1e9,
        counter("plans_made_anew"),
    )
