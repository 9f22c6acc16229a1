"""The matrix: hosts x ranks x link x workload, each cell under all schedules and over gloo.

    python tests/cluster/cells.py --out build/cells                      all cells; hours
    python tests/cluster/cells.py --out build/cells --rates 1gbit --hosts 2,4 --workloads small
    python tests/cluster/cells.py --out build/cells --rates 100mbit --parallel 4
    python tests/cluster/cells.py --out build/cells --show               what is there, and the bars

A cell's result is a file in the folder, beside it the log of its ranks; cells that are there are
not run again. Needs root.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cells_bars  # noqa: E402
import cells_queue  # noqa: E402
import cells_table  # noqa: E402
from hosts_command import SshHosts, job, leave_when_told, why_not  # noqa: E402
from plain_tcp import bytes_per_second  # noqa: E402

RATES = {"100mbit": 12.5e6, "1gbit": 125e6, "none": 2e9}
WORKLOADS = {"small": 8.7e6, "resnet50": 102.2e6, "bert_base": 438e6}  # bytes
ALLREDUCE = "allreduce"
# Steps to warm up, steps that count, and turns, where a step takes less than so many seconds.
_STEPS = ((0.3, (16, 10, 3)), (3.0, (8, 3, 2)), (15.0, (7, 2, 1)), (math.inf, (4, 1, 1)))
_LONG = 15.0
_LONGEST = 4 * 3600.0
_RANK_BYTES = 350 << 20  # Python, torch and the engine, before any gradient
_NETWORK_BOUND = ("100mbit",)


@dataclass(frozen=True)
class Cell:
    """One place of the matrix."""

    hosts: int
    ranks: int
    rate: str
    workload: str

    @property
    def name(self) -> str:
        return f"{self.hosts}x{self.ranks}-{self.rate}-{self.workload}"

    @classmethod
    def named(cls, name: str) -> Cell:
        """The reverse of `name`."""
        places, rate, workload = name.split("-")
        hosts, ranks = map(int, places.split("x"))
        return cls(hosts, ranks, rate, workload)

    def need(self) -> cells_queue.Need:
        """Gradients are there twice, ours and a copy in flight. Where the link is the limit the
        processor has nothing to do, and neighbours cannot be felt."""
        gradients = int(WORKLOADS.get(self.workload, 64 << 20))
        memory = self.hosts * self.ranks * (2 * gradients + _RANK_BYTES)
        return cells_queue.Need(memory, alone=self.rate not in _NETWORK_BOUND)

    def about(self) -> str:
        link = "unshaped" if self.rate == "none" else self.rate
        return f"{self.hosts} hosts x {self.ranks}, {link}, {self.workload}"

    def _step_seconds(self) -> float:
        """About."""
        return 2 * WORKLOADS[self.workload] / RATES[self.rate]

    def measures(self) -> bool:
        """The engine chooses by what it has measured. Trying algorithms would take hours where
        steps take half a minute."""
        return self._step_seconds() <= _LONG

    def command(self, out: Path) -> list[str]:
        """Long steps are counted by fewer: their times differ less."""
        if self.workload == ALLREDUCE:
            sizes = ["--min", "4K", "--max", "4M" if self.rate == "100mbit" else "64M"]
            return ["hvdx-bench", *sizes, "--iterations", "40", "--json", str(out)]
        step = self._step_seconds()
        warmup, steps, turns = next(how for longest, how in _STEPS if step < longest)
        settings = [] if self.measures() else ["env", "HOROVODX_SELECTION=rules"]
        words = ["--workload", self.workload, "--turns", str(turns), "--warmup", str(warmup)]
        words += ["--steps", str(steps), "--json", str(out)]
        return [*settings, "hvdx-bench", "--torch", "schedules", *words]


def run(cell: Cell, out: Path) -> None:
    """Measures; the file appears when all went well."""
    result = out / f"{cell.name}.part"
    with SshHosts(cell.hosts, None if cell.rate == "none" else cell.rate) as hosts:
        tcp = bytes_per_second(hosts, 20 if cell.rate == "100mbit" else 200)
        words = hosts.inside(0, job(hosts, cell.ranks, cell.command(result)))
        subprocess.run(words, env=hosts.env(), check=True, timeout=_LONGEST)
    found = json.loads(result.read_text())
    found["cell"] = {**vars(cell), "plain_tcp_bytes_per_second": tcp}
    (out / f"{cell.name}.json").write_text(json.dumps(found, indent=1))
    result.unlink()


def _start(cell: Cell, out: Path, log: IO[str]) -> subprocess.Popen[bytes]:
    """In a process of its own: hosts are named after the process that makes them. In a session of
    its own: it is told once to end, and not by the terminal."""
    words = [sys.executable, os.path.abspath(__file__), "--out", str(out), "--cell", cell.name]
    to = {"stdout": log, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    return subprocess.Popen(words, start_new_session=True, **to)  # type: ignore[call-overload, no-any-return]


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--hosts", type=_numbers, default=[2, 4, 8])
    parser.add_argument("--ranks", type=_numbers, default=[1, 2])
    parser.add_argument("--rates", default=",".join(RATES))
    parser.add_argument("--workloads", default=",".join((*WORKLOADS, ALLREDUCE)))
    shared = f"cells at once, where the link is the limit ({', '.join(_NETWORK_BOUND)}) and as "
    parser.add_argument("--parallel", type=int, default=1, help=shared + "far as memory lasts (1)")
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a bar is missed")
    parser.add_argument("--cell", help=argparse.SUPPRESS)  # this one, here and now
    return parser.parse_args()


def main() -> int:
    """The command line."""
    options = _options()
    leave_when_told()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.cell:
        run(Cell.named(options.cell), options.out)
        return 0
    failed = 0
    if not options.show:
        if reason := why_not():
            print(f"cells: {reason}", file=sys.stderr)
            return 2
        cells = [
            Cell(hosts, ranks, rate, workload)
            for rate in options.rates.split(",")
            for workload in options.workloads.split(",")
            for hosts in options.hosts
            for ranks in options.ranks
        ]
        left = [cell for cell in cells if not (options.out / f"{cell.name}.json").exists()]
        failed = cells_queue.run_all(left, options.out, options.parallel, _start)
    found = [json.loads(file.read_text()) for file in sorted(options.out.glob("*.json"))]
    print(cells_table.text(found))
    held = cells_bars.all_held(cells_bars.judge(found))
    return 1 if failed or (options.strict and not held) else 0


if __name__ == "__main__":
    sys.exit(main())
