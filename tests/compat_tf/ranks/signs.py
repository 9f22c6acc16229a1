"""How ranks tell each other something without a collective: files that are there or not."""

import os
import time
from pathlib import Path
from typing import Callable


def _sign(name: str) -> Path:
    return Path(os.environ["HVDX_COMPAT_DIRECTORY"]) / name


def leave_sign(name: str) -> None:
    """Once for each name in a job."""
    _sign(name).touch()


def wait_for_sign(name: str) -> None:
    """Until it is there, or fails."""
    wait_until(_sign(name).exists)


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Looks again and again; fails when the time is over."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.002)
