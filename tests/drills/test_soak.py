"""What soak.py looks at for an hour, for seconds: nothing grows from one life to the next."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from soak import LongLived, Watched  # noqa: E402

_LIVES = 30
_SECONDS = 60.0  # for them; only a hang takes so long
_MOST_GROWTH = 4 << 20  # bytes: 200 KiB a life would be seen
# A process that keeps a descriptor, or 64 KiB, of each round.
_LEAK = """
import sys, time
kept = []
while True:
    kept.append({what})
    time.sleep(0.005)
"""


def test_ranks_that_begin_again_and_again_and_their_launcher_stay_flat(tmp_path: Path) -> None:
    job = LongLived(str(tmp_path))
    try:
        watched = job.watched()
        deadline = time.monotonic() + _SECONDS
        while job.lives() < _LIVES and time.monotonic() < deadline:
            assert job.launcher.poll() is None
            for process in watched:
                process.look()
            time.sleep(0.05)
        lives = job.lives()
    finally:
        code = job.end()
    assert lives >= _LIVES and code == 0
    assert [text for one in watched if (text := one.judge(_MOST_GROWTH, 0))] == []


@pytest.mark.parametrize("what", ["open('/dev/null')", "bytearray(1 << 16)"])
def test_what_grows_is_seen(what: str) -> None:
    """Else the other test would prove nothing."""
    with subprocess.Popen([sys.executable, "-c", _LEAK.format(what=what)]) as process:
        watched = Watched("a leak", process.pid)
        for _ in range(30):
            time.sleep(0.05)
            watched.look()
        process.kill()
    assert "a leak grows" in str(watched.judge(_MOST_GROWTH, 0))
