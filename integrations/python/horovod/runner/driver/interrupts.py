"""SIGINT and SIGTERM while a job runs: noted, so that the workers can be ended first."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any


class Interrupts:
    """While entered, signals are counted in `numbers` and make `fd` readable.

    Signals belong to the main thread: in another one this does nothing, and Ctrl-C is heard there.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.fd = -1
        self._write_fd = -1
        self._before: dict[int, Any] = {}
        self._wake_before = -1

    def __enter__(self) -> Interrupts:
        self.fd, self._write_fd = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write_fd, False)
        if threading.current_thread() is threading.main_thread():
            self._wake_before = signal.set_wakeup_fd(self._write_fd, warn_on_full_buffer=False)
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before:
            for number, handler in self._before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._wake_before)
        os.close(self.fd)
        os.close(self._write_fd)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.numbers.append(number)

    def drain(self) -> None:
        """`fd` has been noticed."""
        try:
            os.read(self.fd, 4096)
        except BlockingIOError:
            pass


def raise_again(number: int) -> None:
    """Does now what the signal would have done without us, the workers being gone."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.raise_signal(number)
