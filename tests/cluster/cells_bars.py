"""The bars that cells are held to, and whether they are. Pure."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

SLOWER = 1.03  # optimal, of the best other schedule, in any cell
GAINS = {"wfbp": 1.3, "buckets": 1.1}  # over optimal, geometric mean of shaped cells
LARGE = 1 << 20  # bytes of an allreduce
OF_TCP = 0.95  # what a large one reaches


@dataclass(frozen=True)
class Bar:
    """`missed` says by how much and where; empty: held. None: nothing was measured for it."""

    what: str
    missed: str | None

    def __str__(self) -> str:
        if self.missed is None:
            return f"{self.what}: not measured"
        return f"{self.what}: {f'missed by {self.missed}' if self.missed else 'held'}"


def median(found: dict[str, Any], way: str) -> float:
    """Seconds of a step."""
    return statistics.median(found["ways"][way]["seconds"])


def geometric(values: list[float]) -> float:
    """Their mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def link(found: dict[str, Any]) -> str:
    """Of a cell, in words."""
    rate = found["cell"]["rate"]
    return "unshaped" if rate == "none" else str(rate)


def name(found: dict[str, Any]) -> str:
    """Of a cell."""
    cell = found["cell"]
    return f"{cell['hosts']} x {cell['ranks']}, {link(found)}, {cell['workload']}"


def against_best(found: dict[str, Any]) -> float | None:
    """optimal / best other schedule; None: one of them was not run. Gloo is no schedule."""
    others = [median(found, way) for way in found["ways"] if way not in ("optimal", "gloo")]
    if not others or "optimal" not in found["ways"]:
        return None
    return median(found, "optimal") / min(others)


def gains(cells: list[dict[str, Any]], way: str) -> list[float]:
    """What optimal is faster by, in each shaped cell."""
    return [
        median(found, way) / median(found, "optimal")
        for found in cells
        if found["cell"]["rate"] != "none" and {way, "optimal"} <= found["ways"].keys()
    ]


def control_messages(found: dict[str, Any]) -> float:
    """A step, under the schedule that has most of them."""
    return max(max(way["control_messages"]) for way in found["ways"].values())


def reached(found: dict[str, Any], row: dict[str, Any]) -> float:
    """The share of plain TCP's speed: the bytes that each host must send, at least, over it."""
    cell = found["cell"]
    least = 2 * (cell["hosts"] - 1) / cell["hosts"] * row["bytes"]
    return float(least / cell["plain_tcp_bytes_per_second"] / row["seconds"])


def _never_slower(cells: list[dict[str, Any]]) -> Bar:
    ratios = [(r, name(f)) for f in cells if (r := against_best(f)) is not None]
    what = f"optimal at most {SLOWER - 1:.0%} slower than the best other schedule"
    if not ratios:
        return Bar(what, None)
    what += f", worst of {len(ratios)} cells {max(ratios)[0]:.3f}"
    # Not above, rather than below: what is no number is missed, too.
    over = [(ratio, where) for ratio, where in ratios if not ratio <= SLOWER]
    if not over:
        return Bar(what, "")
    ratio, where = max(over)
    return Bar(what, f"{100 * (ratio - SLOWER):.1f} points in {where} ({len(over)} cells miss)")


def _faster(cells: list[dict[str, Any]], way: str, least: float) -> Bar:
    what = f"{way} / optimal at least {least}, geometric mean of shaped cells"
    ratios = gains(cells, way)
    if not ratios:
        return Bar(what, None)
    mean = geometric(ratios)
    what += f", {mean:.2f} of {len(ratios)}"
    return Bar(what, "" if mean >= least else f"{least - mean:.2g}")


def _silent(cells: list[dict[str, Any]]) -> Bar:
    what = "no control messages in steady state"
    if not cells:
        return Bar(what, None)
    some = [(m, name(f)) for f in cells if not (m := control_messages(f)) <= 0]
    if not some:
        return Bar(what, "")
    messages, where = max(some)
    return Bar(what, f"{messages:.1f} a step in {where} ({len(some)} cells miss)")


def _as_fast_as_tcp(sums: list[dict[str, Any]], which: str) -> Bar:
    what = f"allreduces from {LARGE >> 20} MiB on reach {OF_TCP:.0%} of plain TCP, {which}"
    shares = [
        (reached(f, row), f"{name(f)}, {int(row['bytes']) >> 20} MiB")
        for f in sums
        if link(f) == which
        for row in f["rows"]
        if row["bytes"] >= LARGE
    ]
    if not shares:
        return Bar(what, None)
    what += f", least of {len(shares)} {min(shares)[0]:.1%}"
    under = [(share, where) for share, where in shares if not share >= OF_TCP]
    if not under:
        return Bar(what, "")
    share, where = min(under)
    return Bar(what, f"{100 * (OF_TCP - share):.1f} points in {where} ({len(under)} miss)")


def judge(found: list[dict[str, Any]]) -> list[Bar]:
    """All bars, in the order of their importance."""
    steps = [f for f in found if "ways" in f]
    sums = [f for f in found if "ways" not in f]
    links = list(dict.fromkeys(map(link, sums))) or ["any link"]
    return [
        _never_slower(steps),
        *(_faster(steps, way, least) for way, least in GAINS.items()),
        *(_as_fast_as_tcp(sums, which) for which in links),
        _silent(steps),
    ]


def all_held(bars: list[Bar]) -> bool:
    """None is missed, and something was measured at all."""
    return not any(bar.missed for bar in bars) and any(bar.missed == "" for bar in bars)
