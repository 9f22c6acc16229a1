"""Quantities as people write them: 45us, 10Gbit/s, 25MiB. An error names the value."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z/]*)")
_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_PREFIX = {"": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}


class BadInput(ValueError):
    """What the user gave cannot be used; the message says what and why."""


def _split(text: str, what: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{what}: '{text}' does not begin with a number")
    value = float(match.group(1))
    if not math.isfinite(value):
        raise BadInput(f"{what}: '{text}' is too large")
    return value, match.group(2)


def seconds(text: str, what: str) -> float:
    value, unit = _split(text, what)
    if unit not in _TIME:
        raise BadInput(f"{what}: '{text}' has no unit of time: s, ms, us or ns")
    return value * _TIME[unit]


def bytes_per_second(text: str, what: str) -> float:
    """10Gbit/s, 1.2GB/s, 9Gibit/s; the /s may be left out."""
    value, unit = _split(text, what)
    name = unit.removesuffix("/s")
    prefixes = {**_PREFIX, **_BINARY}
    for end, divisor in (("bit", 8.0), ("B", 1.0)):
        if name.endswith(end) and name.removesuffix(end) in prefixes:
            rate = value * prefixes[name.removesuffix(end)] / divisor
            if rate <= 0:
                raise BadInput(f"{what}: '{text}' is no bandwidth: it must be above 0")
            return rate
    raise BadInput(f"{what}: '{text}' has no unit of bandwidth, such as Gbit/s, Gibit/s or GB/s")


def size(text: str, what: str) -> int:
    """25MiB, 64K, 1000; K, M and G alone are powers of 1024, as in HOROVODX_ALLREDUCE."""
    value, unit = _split(text, what)
    factors = {"": 1.0, "B": 1.0}
    for prefix, factor in _BINARY.items():
        factors |= {prefix + "B": factor, prefix[0]: factor}
    factors |= {prefix + "B": factor for prefix, factor in _PREFIX.items()}
    if unit not in factors:
        raise BadInput(f"{what}: '{text}' has no unit of size, such as KiB, MiB, MB or K")
    return int(value * factors[unit])


def level(text: str, what: str) -> tuple[float, float]:
    """Latency and bandwidth of a link: 45us,10Gbit/s."""
    parts = text.split(",")
    if len(parts) != 2:
        raise BadInput(f"{what}: '{text}' is not a latency and a bandwidth, such as 50us,10Gbit/s")
    return seconds(parts[0], what), bytes_per_second(parts[1], what)


def number(text: str, what: str, least: float = 0.0) -> float:
    value, unit = _split(text, what)
    if unit or value < least:
        raise BadInput(f"{what}: '{text}' is not a number of at least {least:g}")
    return value


def in_bytes(count: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"


def in_time(value: float) -> str:
    if value < 0:
        return "-" + in_time(-value)
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns" if value > 0 else "0"
