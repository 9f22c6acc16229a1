"""Time limits that say what was waited for."""

from __future__ import annotations

import time


class TimeoutException(Exception):
    """Something did not happen in time."""


class Timeout:
    """`timeout` seconds from now. `message` may contain {activity} and {timeout}."""

    def __init__(self, timeout: float, message: str) -> None:
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._message = message

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._deadline - time.monotonic())

    def timed_out(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._deadline

    def check_time_out_for(self, activity: str) -> None:
        """Raises TimeoutException if the time is over."""
        if self.timed_out():
            told = self._message.replace("{activity}", activity)
            raise TimeoutException(
                f"{told} Timeout after {self._timeout:g} seconds."
                if "{timeout}" not in told
                else told.replace("{timeout}", f"{self._timeout:g}")
            )


def start_timeout_of(seconds: float) -> Timeout:
    """The limit of --start-timeout."""
    return Timeout(
        seconds,
        "Timed out waiting for {activity}. Check that all hosts can be reached, or allow more time "
        "with --start-timeout or HOROVOD_START_TIMEOUT.",
    )
