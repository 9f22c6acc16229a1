"""Pictures as SVG, written without a library: lines over workers, and the lanes of one step."""

from __future__ import annotations

import math
from html import escape
from typing import Any

COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777")
FONT_SIZE = 12
_FONT = f'font-family="sans-serif" font-size="{FONT_SIZE}"'


class Drawing:
    """Elements in the order in which they are painted."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.painted: list[tuple[Any, ...]] = []  # the same for other painters: see png.py
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, title: str = ""
    ) -> None:
        self.painted.append(("box", x, y, max(width, 0.2), height, fill))
        inside = f"<title>{escape(title)}</title>" if title else ""
        self._parts.append(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.2):.2f}" height="{height:.2f}" '
            f'fill="{fill}" stroke="white" stroke-width="0.5">{inside}</rect>'
        )

    def line(self, points: list[tuple[float, float]], color: str, width: float = 2) -> None:
        self.painted.append(("line", points, color, width))
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"/>'
        )

    def text(
        self, x: float, y: float, words: str, anchor: str = "start", color: str = "#222"
    ) -> None:
        self.painted.append(("text", x, y, words, anchor, color))
        self._parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" fill="{color}" {_FONT}>'
            f"{escape(words)}</text>"
        )

    def svg(self) -> str:
        return "\n".join([*self._parts, "</svg>", ""])


def round_steps(most: float, about: int) -> list[float]:
    """0, and multiples of 1, 2 or 5 times a power of ten up to `most`; some `about` of them."""
    if most <= 0:
        return [0.0]
    raw = most / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw * (1 - 1e-9))
    return [i * step for i in range(int(most / step + 1e-9) + 1)]
