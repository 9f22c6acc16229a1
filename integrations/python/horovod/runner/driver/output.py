"""Where the workers' output goes: the launcher's own, files, and the memory of the last lines."""

from __future__ import annotations

import os
import sys
from collections import deque
from typing import IO, Any

from horovod.runner.driver.prefix import LinePrefixer, stream_prefix

_TAIL_LINES = 20
_TAIL_CHARACTERS = 4096


class Console:
    """A stream of the launcher, shared by all ranks: nobody continues another one's line."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._open_line: LinePrefixer | None = None  # who left a line without end

    def write(self, text: str, writer: LinePrefixer) -> None:
        """Writes lines of one writer."""
        if self._open_line not in (None, writer):
            text = "\n" + text
        self._open_line = None if text.endswith(("\n", "\r")) else writer
        try:
            self._stream.write(text)
        except UnicodeEncodeError:
            encoding = getattr(self._stream, "encoding", None) or "ascii"
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._stream.flush()


class RankOutput:
    """One stream of one rank, prefixed, to the console and perhaps to a file."""

    def __init__(self, console: Console, prefixer: LinePrefixer, path: str | None) -> None:
        self._console = console
        self._prefixer = prefixer
        self._file = open(path, "w", encoding="utf-8", newline="") if path else None
        self.tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def write(self, data: bytes) -> None:
        """Takes bytes of the worker; none at all is its end."""
        text = self._prefixer.feed(data) if data else self._prefixer.finish()
        if not text:
            return
        self.tail.extend(text.splitlines()[-_TAIL_LINES:])
        self._console.write(text, self._prefixer)
        if self._file:
            self._file.write(text)
            self._file.flush()

    def close(self) -> None:
        """Writes what is left."""
        try:
            self.write(b"")
        finally:
            if self._file:
                self._file.close()
                self._file = None


class Outputs:
    """stdout and stderr of all ranks of a job."""

    def __init__(
        self,
        ranks: int,
        with_timestamp: bool = False,
        folder: str | None = None,
        stdout: Any = None,
        stderr: Any = None,
    ) -> None:
        consoles = {
            "stdout": Console(stdout or sys.stdout),
            "stderr": Console(stderr or sys.stderr),
        }
        self._of: dict[tuple[int, str], RankOutput] = {}
        for rank in range(ranks):
            for stream, console in consoles.items():
                prefixer = LinePrefixer(stream_prefix(rank, stream), with_timestamp)
                path = output_path(folder, rank, ranks, stream) if folder else None
                self._of[rank, stream] = RankOutput(console, prefixer, path)

    def write(self, rank: int, stream: str, data: bytes) -> None:
        """Forwards what a worker wrote."""
        self._of[rank, stream].write(data)

    def tail(self, rank: int) -> list[str]:
        """The last lines of a rank: what it complained about, or else what it printed."""
        lines = self._of[rank, "stderr"].tail or self._of[rank, "stdout"].tail
        kept = [line for line in lines if line.strip()]
        while kept and sum(map(len, kept)) > _TAIL_CHARACTERS:
            kept[0] = kept[0][: _TAIL_CHARACTERS // 2] if len(kept) == 1 else kept.pop(0)
        return kept

    def close(self) -> None:
        """Writes what is left of all of them, as far as anybody still reads it."""
        for output in self._of.values():
            try:
                output.close()
            except OSError:
                pass


def output_path(folder: str, rank: int, ranks: int, stream: str) -> str:
    """`folder/rank.03/stdout`; makes the folders."""
    width = len(str(ranks - 1))
    directory = os.path.join(folder, f"rank.{rank:0{width}d}")
    os.makedirs(directory, exist_ok=True)
    return os.path.join(directory, stream)
