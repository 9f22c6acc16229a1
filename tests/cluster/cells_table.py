"""What cells have shown, as tables, and how it stands against the bars. Pure."""

from __future__ import annotations

import math
from typing import Any

import cells_bars
from cells_bars import link, median, name

WAYS = ("wfbp", "fusion", "mgwfbp", "optimal", "buckets", "gloo")


def steps_table(cells: list[dict[str, Any]]) -> list[str]:
    """Milliseconds a step, and `optimal` against the best other schedule."""
    lines = [
        "| cell | " + " | ".join(WAYS) + " | optimal / best other | control messages |",
        "|---" * (len(WAYS) + 3) + "|",
    ]
    for found in cells:
        times = {way: median(found, way) for way in found["ways"]}
        shown = [f"{times[way] * 1e3:,.0f}" if way in times else "" for way in WAYS]
        ratio = cells_bars.against_best(found) or math.nan
        messages = cells_bars.control_messages(found)
        lines.append(f"| {name(found)} | {' | '.join(shown)} | {ratio:.3f} | {messages:.1f} |")
    return lines


def allreduce_table(cells: list[dict[str, Any]]) -> list[str]:
    """Allreduces against what plain TCP would take for the same bytes."""
    lines = ["| cell | bytes | ms | link's limit, ms | reached |", "|---|---|---|---|---|"]
    for found in cells:
        cell = found["cell"]
        for row in found["rows"]:
            share = cells_bars.reached(found, row)
            size, mebibytes = int(row["bytes"]), int(row["bytes"]) >> 20
            text = f"{mebibytes} MiB" if mebibytes else f"{size >> 10} KiB"
            times = f"{row['seconds'] * 1e3:,.1f} | {share * row['seconds'] * 1e3:,.1f}"
            place = f"{cell['hosts']} x {cell['ranks']}, {link(found)}"
            lines.append(f"| {place} | {text} | {times} | {share:.0%} |")
    return lines


def over_gloo(cells: list[dict[str, Any]]) -> list[str]:
    """No bar, but worth knowing."""
    ratios = cells_bars.gains(cells, "gloo")
    if not ratios:
        return []
    mean = f"{cells_bars.geometric(ratios):.2f}"
    return [f"gloo / optimal, geometric mean of {len(ratios)} shaped cells: {mean}"]


def text(found: list[dict[str, Any]]) -> str:
    """All of it."""
    steps = [cell for cell in found if "ways" in cell]
    sums = [cell for cell in found if "ways" not in cell]
    lines = []
    if steps:
        lines += [*steps_table(steps), "", *over_gloo(steps), ""]
    if sums:
        lines += [*allreduce_table(sums), ""]
    return "\n".join([*lines, *map(str, cells_bars.judge(found))])
