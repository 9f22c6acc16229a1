"""What the simulator says, as a table and as JSON."""

from __future__ import annotations

from typing import Any

from horovodx.sim.core import Bucket, Cluster
from horovodx.sim.sweep import Point
from horovodx.sim.units import in_bytes, in_time
from horovodx.sim.workload import Workload


def heading(workload: Workload, cluster: Cluster) -> str:
    host = f"{in_time(cluster.host[0])}, {in_bytes(cluster.host[1])}/s"
    net = f"{in_time(cluster.net[0])}, {in_bytes(cluster.net[1])}/s"
    return (
        f"{workload.name}: {len(workload.layers)} gradients, {in_bytes(workload.bytes)}; batch "
        f"{workload.batch}; forward {in_time(workload.forward)}, backward "
        f"{in_time(workload.backward)}\n"
        f"inside a host {host}; between hosts {net}; adding up {in_bytes(cluster.reduce)}/s"
    )


def table(points: list[Point]) -> str:
    """A block of lines for each schedule."""
    blocks = []
    titles = ("workers", "step ms", "exposed ms", "buckets", "speed-up", "efficiency", "examples/s")
    for schedule in dict.fromkeys(point.run.schedule for point in points):
        rows = [titles]
        for point in (p for p in points if p.run.schedule == schedule):
            rows.append(
                (
                    f"{point.run.workers}",
                    f"{1e3 * point.step.seconds:.2f}",
                    f"{1e3 * point.step.exposed:.2f}",
                    f"{len(point.step.buckets)}",
                    f"{point.speed_up:.2f}",
                    f"{100 * point.efficiency:.1f} %",
                    f"{point.rate:.1f}",
                )
            )
        widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in rows]
        blocks.append("\n".join([f"schedule {schedule}", *lines]))
    return "\n\n".join(blocks)


def _bucket(bucket: Bucket, names: list[str]) -> dict[str, Any]:
    """Seconds from the start of the backward pass; of a split one, those of both halves."""
    said: dict[str, Any] = {
        "gradients": names[bucket.first : bucket.end],
        "bytes": bucket.bytes,
        "waited_for": names[bucket.waited_for],
        "ready_seconds": bucket.ready,
        "start_seconds": bucket.started,
        "end_seconds": bucket.ended,
        "algorithm": bucket.algorithm,
    }
    if bucket.gather is not None:
        said["gather_start_seconds"], said["gather_end_seconds"] = bucket.gather
    return said


def as_json(workload: Workload, cluster: Cluster, points: list[Point]) -> dict[str, Any]:
    names = [layer.name for layer in workload.arriving()]
    return {
        "model": workload.name,
        "gradients": len(workload.layers),
        "bytes": workload.bytes,
        "batch": workload.batch,
        "forward_seconds": workload.forward,
        "backward_seconds": workload.backward,
        "host": {"latency_seconds": cluster.host[0], "bytes_per_second": cluster.host[1]},
        "net": {"latency_seconds": cluster.net[0], "bytes_per_second": cluster.net[1]},
        "reduce_bytes_per_second": cluster.reduce,
        "steps": [
            {
                "schedule": point.run.schedule,
                "algorithm": point.run.algorithm,
                "split": point.run.split,
                "hosts": point.run.hosts,
                "ranks_per_host": point.run.ranks_per_host,
                "workers": point.run.workers,
                "seconds": point.step.seconds,
                "exposed_seconds": point.step.exposed,
                "communication_seconds": point.step.busy,
                "speed_up": point.speed_up,
                "efficiency": point.efficiency,
                "examples_per_second": point.rate,
                "buckets": [_bucket(bucket, names) for bucket in point.step.buckets],
            }
            for point in points
        ],
    }
