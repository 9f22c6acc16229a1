"""Cuts what a worker writes into lines, each with the worker's name in front."""

from __future__ import annotations

import codecs
import re
import time

_LONGEST = 1 << 20  # characters; a longer line is forwarded in parts
_END = re.compile(r"\r\n|\r|\n")


class LinePrefixer:
    """Bytes in, prefixed text out, as soon as a line ends: by \\n, or by \\r as progress bars."""

    def __init__(self, prefix: str, with_timestamp: bool) -> None:
        self._prefix = prefix
        self._with_timestamp = with_timestamp
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._after_return = False  # the last line ended by \r: \n may follow

    def feed(self, data: bytes) -> str:
        """The lines that are complete now."""
        return self._lines(self._decoder.decode(data))

    def finish(self) -> str:
        """The last lines, also one without an end."""
        text = self._lines(self._decoder.decode(b"", True))
        rest, self._rest = self._rest, ""
        return text + (self._start() + rest if rest else "")

    def _lines(self, text: str) -> str:
        if not text:
            return ""
        out = []
        if self._after_return:
            self._after_return = False
            if text[0] == "\n":  # belongs to a line that is out already
                out.append("\n")
                text = text[1:]
        start, begin = self._start(), 0
        for end in _END.finditer(text):
            out.append(start + self._rest + text[begin : end.end()])
            self._rest, begin = "", end.end()
        self._after_return = begin == len(text) and text.endswith("\r")
        self._rest += text[begin:]
        if len(self._rest) > _LONGEST:
            out.append(start + self._rest + "\n")
            self._rest = ""
        return "".join(out)

    def _start(self) -> str:
        return time.asctime() + self._prefix if self._with_timestamp else self._prefix


def stream_prefix(rank: int | str, stream: str) -> str:
    """`[3]<stdout>:`, the start of a line of rank 3."""
    return f"[{rank}]<{stream}>:"
