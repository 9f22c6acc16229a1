"""The bars that allreduces between hosts are held to, and whether they are. Pure."""

from __future__ import annotations

import statistics
from typing import Any

from cells_bars import OF_TCP, Bar

OURS, GLOO, MPI = "HorovodX", "gloo", "mpi4py"
AS_FAST_FROM = 256 << 10  # bytes: not slower than the best of the others
AT_THE_LIMIT_FROM = 1 << 20  # OF_TCP of what the link allows
SMALL_UP_TO = 16 << 10  # 4 bytes and more: within OF_MPI of MPI
OF_MPI = 1.5


def merged(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """One table of several, each by median; plain TCP's speed, too."""
    rows: list[dict[str, Any]] = []
    for same in zip(*(found["seconds"] for found in rounds)):
        row = {name: statistics.median(r[name] for r in same) for name in (OURS, GLOO, MPI)}
        rows.append({"bytes": same[0]["bytes"], **row})
    tcp = statistics.median(found["tcp"] for found in rounds)
    return {**rounds[0], "tcp": tcp, "seconds": rows}


def limit(found: dict[str, Any], hosts: int, row: dict[str, Any]) -> float:
    """Seconds in which plain TCP moves the bytes that each host must send, at least."""
    return float(2 * (hosts - 1) / hosts * row["bytes"] / found["tcp"])


def _size(row: dict[str, Any]) -> str:
    count = row["bytes"]
    for unit, one in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= one:
            return f"{count // one} {unit}"
    return f"{count} B"


def _bar(what: str, most: float, ratios: list[tuple[float, str]], how: str) -> Bar:
    """None of `ratios`, each with its size, may be over `most`."""
    if not ratios:
        return Bar(what, None)
    worst, size = max(ratios)
    what += f", worst of {len(ratios)} {worst:.2f}{how} at {size}"
    # Not above, rather than below: what is no number is missed, too.
    over = [size for ratio, size in ratios if not ratio <= most]
    return Bar(what, f"{100 * (worst - most):.0f} points ({', '.join(over)})" if over else "")


def judge(found: dict[str, Any], hosts: int) -> list[Bar]:
    """All bars, for allreduces between so many hosts."""
    rows = found["seconds"]
    large = [row for row in rows if row["bytes"] >= AS_FAST_FROM]
    larger = [row for row in rows if row["bytes"] >= AT_THE_LIMIT_FROM]
    small = [row for row in rows if 4 <= row["bytes"] <= SMALL_UP_TO]
    return [
        _bar(
            "from 256 KiB on at least as fast as the best of gloo and MPI",
            1.0,
            [(row[OURS] / min(row[GLOO], row[MPI]), _size(row)) for row in large],
            "x its time",
        ),
        _bar(
            f"from 1 MiB on {OF_TCP:.0%} of the link's limit",
            1 / OF_TCP,
            [(row[OURS] / limit(found, hosts, row), _size(row)) for row in larger],
            "x the limit's time",
        ),
        _bar(
            f"up to 16 KiB within {OF_MPI}x of MPI",
            OF_MPI,
            [(row[OURS] / row[MPI], _size(row)) for row in small],
            "x its time",
        ),
    ]
