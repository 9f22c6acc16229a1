"""A pipe between threads."""

from __future__ import annotations

import threading
from typing import Any


class Pipe:
    """Holds one piece at a time: a writer waits until the reader has taken all of the last one."""

    def __init__(self) -> None:
        self._piece: Any = None
        self._offset = 0
        self._closed = False
        self._changed = threading.Condition()

    def write(self, buf: Any) -> None:
        """Waits until there is room. RuntimeError once the pipe is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._piece is None or self._closed)
            if self._closed:
                raise RuntimeError("Pipe is closed")
            if len(buf):
                self._piece, self._offset = buf, 0
                self._changed.notify_all()

    def read(self, length: int = -1) -> Any:
        """Waits for a piece, and takes at most `length` of it; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._piece is not None or self._closed)
            if self._piece is None:
                return None
            end = None if length < 0 else self._offset + length
            taken = self._piece[self._offset : end]
            self._offset += len(taken)
            if self._offset >= len(self._piece):
                self._piece = None
                self._changed.notify_all()
            return taken

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Ends the pipe; what is in it can still be read."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
