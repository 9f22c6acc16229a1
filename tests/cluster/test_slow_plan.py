"""A planned bucket that takes seconds because the network is slow does not end its plan."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hosts_command import job  # noqa: E402
from ssh_hosts import SshHosts, why_not  # noqa: E402

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

PROGRAM = Path(__file__).parent / "programs" / "slow_plan_rank.py"
COUNT, STEPS = 600_000, 8  # float32: 2.4 MB, two seconds at 10 Mbit/s
PATIENCE = 1.0  # of a plan, in seconds
LIMIT = 120


def test_who_is_slow_is_not_stuck() -> None:
    with SshHosts(2, "10mbit") as hosts:
        words = [sys.executable, str(PROGRAM), str(COUNT), str(STEPS)]
        done = hosts.run(0, job(hosts, 1, words), timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    started, left, seconds = done.stdout.partition("plans:")[2].splitlines()[0].split()
    assert float(seconds) > 1.5 * PATIENCE, "too fast to show anything"
    assert (int(started), int(left)) == (1, 0), done.stdout
