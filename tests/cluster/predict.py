"""How close hvdx-sim comes to steps that were measured: tests/cluster/cells.py made the files.

    python tests/cluster/predict.py build/cells            --strict: exit code 1 if it is not close

For each link two numbers, what a message and what a byte takes, come from blocking allreduces
between two hosts with a rank each (2x1-*-allreduce), and the same two for inside a host from those
with two ranks each (2x2-*-allreduce); everything else is predicted from them: other numbers of
hosts, and steps of real models under each schedule. Nothing of the steps is fitted.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cells import Cell

from horovodx.sim.core import SCHEDULES, Cluster, Run, ask, simulate
from horovodx.sim.sweep import describe
from horovodx.torch_bench.workloads import workload_named

MOST = 0.15  # median error
_NO_LIMIT = 1e18
_NARROWINGS, _POINTS = 4, 32
_ROUNDS = 3  # latency and bandwidth in turns: each hardly matters for the other
# Where they are looked for: seconds, seconds a byte.
_LATENCIES = (1e-7, 1e-1)
_PER_BYTE = (1e-12, 1e-5)

Level = tuple[float, float]  # latency in seconds, bytes a second


def allreduce_seconds(on: list[Cluster], size: int, ranks: int = 1) -> list[float]:
    """Between two hosts, by the simulator, on each of these."""
    lines = [line for one in on for line in (*one.lines(), f"cost auto 2 {ranks} {size}")]
    return [float(words[1]) for words in ask(lines)]


def _where(took: Callable[[list[float]], list[float]], seconds: float, ends: Level) -> float:
    """Where a function that grows reaches this, on a logarithmic scale; else about an end of it."""
    low, high = map(math.log, ends)
    for _ in range(_NARROWINGS):
        step = (high - low) / _POINTS
        tried = [low + step * i for i in range(_POINTS + 1)]
        below = sum(t < seconds for t in took([math.exp(x) for x in tried]))
        low = tried[min(max(below - 1, 0), _POINTS - 1)]
        high = low + step
    return math.exp((low + high) / 2)


def _fit(rows: list[dict[str, Any]], ranks: int, of: Callable[[Level], Cluster]) -> Level:
    """Latency and bandwidth that explain the smallest and the largest allreduce."""
    small, large = rows[0], rows[-1]

    def with_latency(values: list[float]) -> list[float]:
        on = [of((latency, 1 / per_byte)) for latency in values]
        return allreduce_seconds(on, int(small["bytes"]), ranks)

    def with_per_byte(values: list[float]) -> list[float]:
        on = [of((latency, 1 / value)) for value in values]
        return allreduce_seconds(on, int(large["bytes"]), ranks)

    per_byte = _PER_BYTE[0]
    for _ in range(_ROUNDS):
        latency = _where(with_latency, small["seconds"], _LATENCIES)
        per_byte = _where(with_per_byte, large["seconds"], _PER_BYTE)
    return latency, 1 / per_byte


def link_of(rows: list[dict[str, Any]]) -> Level:
    """Between two hosts of one rank. What adding up takes is in the bandwidth."""
    return _fit(rows, 1, lambda net: Cluster(net=net, reduce=_NO_LIMIT))


def _seen(found: float, ends: Level, usual: float) -> float:
    """What was found, unless the search ended where it could go no further: then it cannot be seen
    in what was measured."""
    low, high = ends
    return found if 1.01 * low < found < high / 1.01 else usual


def host_of(rows: list[dict[str, Any]], net: Level) -> Level:
    """Inside a host, from two hosts of two ranks on a link that is known. A slow link hides what
    ranks of a host do; what cannot be seen stays as usual."""
    latency, bandwidth = _fit(rows, 2, lambda host: Cluster(host=host, net=net, reduce=_NO_LIMIT))
    usual = Cluster().host
    per_byte = _seen(1 / bandwidth, _PER_BYTE, 1 / usual[1])
    return _seen(latency, _LATENCIES, usual[0]), 1 / per_byte


def clusters(found: list[dict[str, Any]]) -> dict[str, Cluster]:
    """By the rate of their links, where that was measured."""
    rows = {
        (f["cell"]["rate"], f["cell"]["ranks"]): f["rows"]
        for f in found
        if "rows" in f and f["cell"]["hosts"] == 2
    }
    made = {}
    for rate in dict.fromkeys(rate for rate, ranks in rows if ranks == 1):
        cluster = Cluster(net=link_of(rows[rate, 1]), reduce=_NO_LIMIT)
        if (rate, 2) in rows:
            cluster.host = host_of(rows[rate, 2], cluster.net)
        made[rate] = cluster
    return made


def predicted(cell: Cell, cluster: Cluster, schedules: list[str]) -> list[float]:
    """Seconds of a step, under each."""
    choice = "auto" if cell.measures() else "rules"
    runs = [Run(schedule, choice, cell.hosts, cell.ranks) for schedule in schedules]
    steps = simulate(describe(workload_named(cell.workload), cluster), runs)
    return [step.seconds for step in steps]


def verdict(errors: list[float]) -> tuple[bool, str]:
    """Whether the bar is held, and in words. Pure."""
    if not errors:
        return False, f"median error at most {MOST:.0%}: not measured"
    middle = statistics.median(errors)
    what = f"median error at most {MOST:.0%}, {middle:.1%} of {len(errors)}"
    if middle <= MOST:
        return True, f"{what}: held"
    return False, f"{what}: missed by {100 * (middle - MOST):.1f} points"


def _compare(found: dict[str, Any], cluster: Cluster) -> tuple[str, list[float]]:
    """A row of the table, and errors."""
    cell = Cell(**{key: found["cell"][key] for key in ("hosts", "ranks", "rate", "workload")})
    there = [schedule for schedule in SCHEDULES if schedule in found["ways"]]
    texts, errors = dict.fromkeys(SCHEDULES, ""), []
    for schedule, ours in zip(there, predicted(cell, cluster, there)):
        measured = statistics.median(found["ways"][schedule]["seconds"])
        error = ours / measured - 1
        errors.append(abs(error))
        texts[schedule] = f"{measured * 1e3:,.0f} / {ours * 1e3:,.0f}: {error:+.0%}"
    name = f"{cell.hosts} x {cell.ranks}, {cell.rate}, {cell.workload}"
    return f"| {name} | {' | '.join(texts.values())} |", errors


def main(words: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of what cells.py has measured")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if the bar is missed")
    options = parser.parse_args(words)
    found = [json.loads(file.read_text()) for file in sorted(options.folder.glob("*.json"))]
    known = clusters(found)
    for rate, cluster in known.items():
        for where, (latency, bandwidth) in (("hosts", cluster.net), ("ranks", cluster.host)):
            print(f"{rate}: {latency * 1e6:.1f} us, {bandwidth / 1e6:.1f} MB/s between {where}")
    print("| cell | " + " | ".join(SCHEDULES) + " |\n|---" + "|---" * len(SCHEDULES) + "|")
    errors: dict[str, list[float]] = {}
    for f in found:
        if "ways" in f and f["cell"]["rate"] in known:
            row, some = _compare(f, known[f["cell"]["rate"]])
            print(row)
            errors.setdefault(f["cell"]["rate"], []).extend(some)
    for rate, some in errors.items():
        print(f"median error, {rate}: {statistics.median(some):.1%} of {len(some)}")
    held, said = verdict([error for some in errors.values() for error in some])
    print(said)
    return 1 if options.strict and not held else 0


if __name__ == "__main__":
    sys.exit(main())
