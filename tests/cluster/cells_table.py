"""What cells have shown, as a table, and how it stands against the bars. Pure."""

from __future__ import annotations

import math
import statistics
from typing import Any

WAYS = ("wfbp", "fusion", "mgwfbp", "optimal", "buckets", "gloo")


def _median(found: dict[str, Any], way: str) -> float:
    return statistics.median(found["ways"][way]["seconds"])


def _geometric(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def steps_table(cells: list[dict[str, Any]]) -> list[str]:
    """Milliseconds a step, and `optimal` against the best other schedule."""
    lines = [
        "| cell | " + " | ".join(WAYS) + " | optimal / best other | control messages |",
        "|---" * (len(WAYS) + 3) + "|",
    ]
    for found in cells:
        cell = found["cell"]
        link = "unshaped" if cell["rate"] == "none" else cell["rate"]
        times = {way: _median(found, way) for way in found["ways"]}
        others = [t for way, t in times.items() if way not in ("optimal", "gloo")]
        shown = [f"{times[way] * 1e3:,.0f}" if way in times else "" for way in WAYS]
        ratio = times["optimal"] / min(others) if others and "optimal" in times else math.nan
        messages = max(max(way["control_messages"]) for way in found["ways"].values())
        name = f"{cell['hosts']} x {cell['ranks']}, {link}, {cell['workload']}"
        lines.append(f"| {name} | {' | '.join(shown)} | {ratio:.3f} | {messages:.1f} |")
    return lines


def allreduce_table(cells: list[dict[str, Any]]) -> list[str]:
    """Large allreduces against what plain TCP would take for the same bytes."""
    lines = ["| cell | bytes | ms | link's limit, ms | reached |", "|---|---|---|---|---|"]
    for found in cells:
        cell = found["cell"]
        tcp = cell["plain_tcp_bytes_per_second"]
        link = "unshaped" if cell["rate"] == "none" else cell["rate"]
        for row in found["rows"]:
            limit = 2 * (cell["hosts"] - 1) / cell["hosts"] * row["bytes"] / tcp
            seconds = row["seconds"]
            name = f"{cell['hosts']} x {cell['ranks']}, {link}"
            size = f"{int(row['bytes']) >> 20} MiB"
            times = f"{seconds * 1e3:,.1f} | {limit * 1e3:,.1f}"
            lines.append(f"| {name} | {size} | {times} | {limit / seconds:.0%} |")
    return lines


def bars(cells: list[dict[str, Any]]) -> list[str]:
    """How `optimal` stands."""
    lines = []
    worst = 0.0
    gains: dict[str, list[float]] = {"wfbp": [], "buckets": [], "gloo": []}
    for found in cells:
        if "optimal" not in found["ways"]:
            continue
        ours = _median(found, "optimal")
        others = [_median(found, way) for way in found["ways"] if way not in ("optimal", "gloo")]
        if others:
            worst = max(worst, ours / min(others))
        if found["cell"]["rate"] != "none":
            for way, ratios in gains.items():
                if way in found["ways"]:
                    ratios.append(_median(found, way) / ours)
    lines.append(f"optimal / best other schedule, worst of {len(cells)} cells: {worst:.3f}")
    for way, ratios in gains.items():
        if ratios:
            what = f"{way} / optimal, geometric mean of {len(ratios)} shaped cells"
            lines.append(f"{what}: {_geometric(ratios):.2f}")
    return lines


def text(found: list[dict[str, Any]]) -> str:
    """All of it."""
    steps = [cell for cell in found if "ways" in cell]
    sums = [cell for cell in found if "ways" not in cell]
    lines = []
    if steps:
        lines += [*steps_table(steps), "", *bars(steps), ""]
    if sums:
        lines += allreduce_table(sums)
    return "\n".join(lines)
