"""How close hvdx-sim comes to steps that were measured: tests/cluster/cells.py made the files.

    python tests/cluster/predict.py build/cells

For each link two numbers, what a message and what a byte takes, come from blocking allreduces
between two hosts with a rank each (2x1-*-allreduce); everything else is predicted from them: other
numbers of hosts and ranks, and steps of real models under each schedule. Nothing of the steps is
fitted.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from horovodx.sim.core import SCHEDULES, Cluster, Run, simulate
from horovodx.sim.sweep import describe
from horovodx.sim.workload import Layer, Workload
from horovodx.torch_bench.workloads import workload_named

_NO_TIME = 1e-15
_NO_LIMIT = 1e18


def allreduce_seconds(latency: float, bandwidth: float, size: int) -> float:
    """Between two hosts, by the simulator."""
    cluster = Cluster(net=(latency, bandwidth), reduce=_NO_LIMIT)
    workload = Workload("one", 0.0, [Layer("all", 0.0, size)])
    return simulate(describe(workload, cluster), [Run("wfbp", "auto", 2, 1)])[0].seconds


def link_of(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Latency and bandwidth that explain the smallest and the largest allreduce."""
    small, large = rows[0], rows[-1]
    a = {}
    for row in (small, large):
        size = int(row["bytes"])
        messages = allreduce_seconds(1.0, _NO_LIMIT, size)
        moved = allreduce_seconds(_NO_TIME, 1.0, size)
        a[row["bytes"]] = (messages, moved, row["seconds"])
    (m1, b1, t1), (m2, b2, t2) = a[small["bytes"]], a[large["bytes"]]
    determinant = m1 * b2 - m2 * b1
    latency = (t1 * b2 - t2 * b1) / determinant
    per_byte = (m1 * t2 - m2 * t1) / determinant
    return max(latency, 1e-6), 1.0 / per_byte


def predicted(cell: dict[str, Any], link: tuple[float, float], schedule: str) -> float:
    """Seconds of a step."""
    workload = workload_named(cell["workload"])
    run = Run(schedule, "auto", cell["hosts"], cell["ranks"])
    return simulate(describe(workload, Cluster(net=link)), [run])[0].seconds


def main() -> int:
    """The command line."""
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = [json.loads(file.read_text()) for file in sorted(Path(sys.argv[1]).glob("*.json"))]
    links = {
        f["cell"]["rate"]: link_of(f["rows"])
        for f in found
        if "rows" in f and (f["cell"]["hosts"], f["cell"]["ranks"]) == (2, 1)
    }
    for rate, (latency, bandwidth) in links.items():
        print(f"{rate}: {latency * 1e6:.0f} us a message, {bandwidth / 1e6:.1f} MB/s")
    print("| cell | " + " | ".join(SCHEDULES) + " |\n|---" + "|---" * len(SCHEDULES) + "|")
    errors: dict[str, list[float]] = {}
    for f in found:
        cell = f["cell"]
        if "ways" not in f or cell["rate"] not in links:
            continue
        texts = []
        for schedule in SCHEDULES:
            if schedule not in f["ways"]:
                texts.append("")
                continue
            measured = statistics.median(f["ways"][schedule]["seconds"])
            ours = predicted(cell, links[cell["rate"]], schedule)
            error = ours / measured - 1
            errors.setdefault(cell["rate"], []).append(abs(error))
            texts.append(f"{measured * 1e3:,.0f} / {ours * 1e3:,.0f}: {error:+.0%}")
        name = f"{cell['hosts']} x {cell['ranks']}, {cell['rate']}, {cell['workload']}"
        print(f"| {name} | {' | '.join(texts)} |")
    everything = [error for some in errors.values() for error in some]
    for rate, some in [*errors.items(), ("all", everything)]:
        if some:
            print(f"median error, {rate}: {statistics.median(some):.1%} of {len(some)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
