"""The same step on more and more workers."""

from __future__ import annotations

from dataclasses import dataclass

from horovodx.sim.core import Cluster, Run, Step, simulate
from horovodx.sim.units import BadInput
from horovodx.sim.workload import Workload

MOST_WORKERS = 100_000


@dataclass
class Point:
    """One number of workers under one schedule."""

    run: Run
    step: Step
    speed_up: float  # over one worker
    efficiency: float  # speed-up by worker
    rate: float  # examples a second


def describe(workload: Workload, cluster: Cluster) -> list[str]:
    """For hvdx-sim-core."""
    layers = [f"layer {layer.backward!r} {layer.bytes}" for layer in workload.layers]
    return [*cluster.lines(), f"forward {workload.forward!r}", *layers]


def places(workers: list[int], ranks_per_host: int) -> list[tuple[int, int]]:
    """(hosts, ranks a host) for each number of workers."""
    found = []
    for count in workers:
        if count <= ranks_per_host:
            found.append((1, count))
        elif count % ranks_per_host == 0:
            found.append((count // ranks_per_host, ranks_per_host))
        else:
            raise BadInput(f"--workers: {count} is no multiple of {ranks_per_host} ranks a host")
    return found


def usual_workers(ranks_per_host: int) -> list[int]:
    """1, 2, 4, ... as far as they fill hosts, up to 100,000."""
    few = [2**k for k in range(20) if 2**k < ranks_per_host]
    many = [ranks_per_host * 2**k for k in range(20)]
    most = MOST_WORKERS // ranks_per_host * ranks_per_host
    return [*few, *(count for count in many if count < most), most]


def sweep(workload: Workload, cluster: Cluster, runs: list[Run]) -> list[Point]:
    alone = workload.forward + workload.backward
    points = []
    for run, step in zip(runs, simulate(describe(workload, cluster), runs)):
        efficiency = alone / step.seconds if step.seconds > 0 else 1.0
        rate = run.workers * workload.batch / step.seconds if step.seconds > 0 else 0.0
        points.append(Point(run, step, efficiency * run.workers, efficiency, rate))
    return points
