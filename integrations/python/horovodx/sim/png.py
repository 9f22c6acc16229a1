"""Pictures as PNG: what a Drawing has painted, painted again by Pillow."""

from __future__ import annotations

import importlib.util
import io
from typing import Any, Callable

from horovodx.sim.svg import FONT_SIZE, Drawing

_SHARP = 2  # pixels for each unit of a drawing
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def why_not() -> str | None:
    """What is missing, if anything is."""
    if importlib.util.find_spec("PIL") is None:
        return "PNG needs Pillow: pip install 'horovodx[png]', or choose .svg"
    return None


def png(drawing: Drawing) -> bytes:
    """The file's contents."""
    from PIL import Image, ImageDraw, ImageFont

    size = (drawing.width * _SHARP, drawing.height * _SHARP)
    image = Image.new("RGB", size, "white")
    paper = ImageDraw.Draw(image)
    font = ImageFont.load_default(FONT_SIZE * _SHARP)
    for kind, *how in drawing.painted:
        _PAINTERS[kind](paper, font, *how)
    memory = io.BytesIO()
    image.save(memory, "PNG", optimize=True)
    return memory.getvalue()


def _box(paper: Any, _: Any, x: float, y: float, width: float, height: float, fill: str) -> None:
    place = [_SHARP * one for one in (x, y, x + width, y + height)]
    edge = "white" if width > 1.5 else None  # as the thin edge of the SVG, which hides no box
    paper.rectangle(place, fill=fill, outline=edge)


def _line(
    paper: Any, _: Any, points: list[tuple[float, float]], color: str, width: float
) -> None:
    places = [(_SHARP * x, _SHARP * y) for x, y in points]
    paper.line(places, fill=color, width=round(_SHARP * width), joint="curve")


def _text(paper: Any, font: Any, x: float, y: float, words: str, anchor: str, color: str) -> None:
    paper.text((_SHARP * x, _SHARP * y), words, fill=color, font=font, anchor=_ANCHORS[anchor])


_PAINTERS: dict[str, Callable[..., None]] = {"box": _box, "line": _line, "text": _text}
