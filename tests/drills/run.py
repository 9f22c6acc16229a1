#!/usr/bin/env python3
"""Runs drills and prints the matrix with what came of them.

    python tests/drills/run.py                    each cell once
    python tests/drills/run.py --full             each cell with two choices of ranks and victim
    python tests/drills/run.py --only SIGKILL     one fault; the same: --moment, --transport
    python tests/drills/run.py --results FILE     writes the table as markdown, with date and commit

The exit code is the number of drills that did not go as the table (matrix.py) says, at most 100.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from drill import HERE, Outcome, run_drill  # noqa: E402
from matrix import MATRIX, MOMENTS, SETTINGS, TRANSPORTS, Cell, cells  # noqa: E402


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--full", action="store_true", help="two worlds for each cell")
    parser.add_argument("--only", action="append", choices=list(MATRIX), metavar="FAULT")
    parser.add_argument("--moment", action="append", choices=list(MOMENTS))
    parser.add_argument("--transport", action="append", choices=list(TRANSPORTS))
    parser.add_argument("--jobs", type=int, default=1, help="drills at the same time")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--results", help="a markdown file to write")
    parser.add_argument("--verbose", action="store_true", help="show what the jobs print")
    return parser.parse_args()


def chosen(options: argparse.Namespace) -> list[Cell]:
    """The cells that are asked for."""
    return [
        cell
        for cell in cells(2 if options.full else 1)
        if cell.fault in (options.only or MATRIX)
        and cell.moment in (options.moment or MOMENTS)
        and cell.transport in (options.transport or TRANSPORTS)
    ]


def tell(outcome: Outcome, verbose: bool) -> None:
    """One line, and more if it went wrong in another way than it should."""
    word = "as told" if outcome.ok else "OTHERWISE"
    print(f"{word:9} {outcome.seconds:6.1f} s  {outcome.cell.name}", flush=True)
    if outcome.mpirun_hung:
        print("    mpirun hung in its own end, after all ranks had ended", flush=True)
    for problem in outcome.problems:
        print(f"    {problem}", flush=True)
    if verbose:
        print(outcome.output, flush=True)


def matrix_lines(outcomes: list[Outcome]) -> list[str]:
    """Rows of faults and transports, columns of moments; in each cell the times."""
    lines = ["| fault | over | " + " | ".join(MOMENTS) + " |", "|---" * (len(MOMENTS) + 2) + "|"]
    for fault in MATRIX:
        for transport in TRANSPORTS:
            texts = [_cell_text(fault, moment, transport, outcomes) for moment in MOMENTS]
            if any(text not in ("-", "") for text in texts):
                lines.append(f"| {fault} | {transport} | " + " | ".join(texts) + " |")
    return lines


def _cell_text(fault: str, moment: str, transport: str, outcomes: list[Outcome]) -> str:
    if Cell(fault, moment, transport, 2, 1).expect.why_not:
        return "-"
    here = [
        o for o in outcomes
        if (o.cell.fault, o.cell.moment, o.cell.transport) == (fault, moment, transport)
    ]  # fmt: skip
    return ", ".join(f"{o.seconds:.1f}" if o.ok else "**otherwise**" for o in here)


def message_lines(outcomes: list[Outcome]) -> list[str]:
    """What users read, once for each fault."""
    lines = ["| fault | a message of it |", "|---|---|"]
    for fault in MATRIX:
        said = [o.message for o in outcomes if o.cell.fault == fault and o.message]
        if said:
            lines.append(f"| {fault} | {max(said, key=said.count)[:300]} |".replace("\n", " "))
    return lines


def reason_lines() -> list[str]:
    """Why some cells are empty."""
    reasons: dict[str, list[str]] = {}
    for fault in MATRIX:
        for moment in MOMENTS:
            for transport in TRANSPORTS:
                why = Cell(fault, moment, transport, 2, 1).expect.why_not
                if why and fault not in reasons.setdefault(why, []):
                    reasons[why].append(fault)
    return [f"- {why}: {', '.join(faults)}" for why, faults in reasons.items()]


def hung_lines(outcomes: list[Outcome]) -> list[str]:
    """Where the launcher had to be killed, although all that is ours had ended."""
    names = [outcome.cell.name for outcome in outcomes if outcome.mpirun_hung]
    text = "mpirun hung in its own end (README.md says why) in: " + "; ".join(names) + "."
    return ["", text] if names else []


def write_results(path: str, outcomes: list[Outcome], seconds: float, seed: int) -> None:
    """The notes of a run."""
    commit = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    good = sum(outcome.ok for outcome in outcomes)
    text = [
        "# The last run of all cells",
        "",
        f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, commit {commit}, seed {seed}: "
        f"{good} of {len(outcomes)} drills went as `matrix.py` says; {seconds / 60:.0f} minutes.",
        "Each number is the time in seconds from the fault until the last rank that lived on knew",
        "of it, or had ended well (with --full twice, with other ranks and victims); 0.0 also",
        "where nobody is left to be timed: launch, and mpirun's init and shutdown. Limits were "
        + ", ".join(f"{name}={value}" for name, value in SETTINGS.items() if "HIDE" not in name)
        + ".",
        *hung_lines(outcomes),
        "",
        *matrix_lines(outcomes),
        "",
        "Cells with `-` cannot be:",
        "",
        *reason_lines(),
        "",
        "## What users read",
        "",
        *message_lines(outcomes),
        "",
    ]
    Path(path).write_text("\n".join(text), encoding="utf-8")


def main() -> int:
    options = parse()
    todo = chosen(options)
    print(f"{len(todo)} drills, seed {options.seed}", flush=True)
    begin = time.monotonic()
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda cell: run_drill(cell, options.seed), todo):
            outcomes.append(outcome)
            tell(outcome, options.verbose)
    print("\n".join(matrix_lines(outcomes)))
    if options.results:
        write_results(options.results, outcomes, time.monotonic() - begin, options.seed)
    bad = sum(not outcome.ok for outcome in outcomes)
    print(f"{len(outcomes) - bad} of {len(outcomes)} as the table says")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
