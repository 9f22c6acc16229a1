"""Hosts whose clocks do not agree: nothing but texts for people may depend on what time it is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import PROGRAMS, horovodrun_path
from support import ssh_hosts
from support.other_machine import make_different
from support.ssh_hosts import INTERFACE, SshHosts

REASON = ssh_hosts.why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

OFF = 2 * 3600  # seconds; of the wall clock
UPTIME = 50 * 86400  # seconds; of the other clock, which counts from when a host was switched on
LIMIT = 60


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("clock") / "wrong_clock.so"
    source = PROGRAMS / "wrong_clock.c"
    words = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([*words, str(source), "-o", str(path)], check=True, timeout=LIMIT)
    return str(path)


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    with SshHosts(2) as two:
        yield two


def _other_uptime() -> list[str]:
    """Words that give a program another CLOCK_MONOTONIC, where the kernel can."""
    words = ["unshare", "--time", "--monotonic", str(UPTIME), "--boottime", str(UPTIME), "--fork"]
    able = subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    return words if able else []


@pytest.mark.parametrize("jumps", [False, True], ids=["wrong", "wrong, jumping, rank 0's"])
def test_a_clock_that_is_wrong(hosts: SshHosts, library: str, tmp_path: Path, jumps: bool) -> None:
    uptime = _other_uptime()
    clock = ["env", f"LD_PRELOAD={library}", f"WALL_CLOCK_OFF={OFF}"]
    clock += ["WALL_CLOCK_JUMPS=1"] if jumps else []
    make_different(hosts, 1, words=[*uptime, *clock])
    wrong, right = f"{hosts.address(1)}:2", f"{hosts.address(0)}:1"
    order = f"{wrong},{right}" if jumps else f"{right},{wrong}"
    wrong_ranks = {0, 1} if jumps else {1, 2}
    timeline = tmp_path / "timeline.json"
    done = hosts.run(
        0,
        [horovodrun_path(), "-np", "3", *hosts.ssh_options(), "-H", order,
         "--network-interfaces", INTERFACE, "--timeline-filename", str(timeline),
         sys.executable, str(PROGRAMS / "steps.py")],
        timeout=LIMIT,
        env={"HOROVODX_SCHEDULE": "optimal"},
    )  # fmt: skip
    now = time.time()
    for host in range(2):
        hosts.wait_until_empty(host)
    assert done.returncode == 0, done.stderr
    facts = [json.loads(line.partition("<stdout>:")[2]) for line in done.stdout.splitlines()]
    assert sorted(fact["rank"] for fact in facts) == [0, 1, 2]
    for fact in facts:
        assert fact["plans"] >= 1
        is_wrong = fact["rank"] in wrong_ranks
        off = {round((seen - now) / OFF) for seen in fact["wall"]}
        expected = {1, -1} if jumps else {1}
        assert off == (expected if is_wrong else {0}), fact
        if uptime:
            assert (fact["monotonic"] - time.monotonic() > UPTIME / 2) == is_wrong, fact
    _check_timeline(json.loads(timeline.read_text()), now, is_wrong=jumps)


def _check_timeline(events: list[dict[str, Any]], now: float, is_wrong: bool) -> None:
    """It opens, says what rank 0 took for the time, and all in it happened within the job."""
    started = events[0]["args"]["start_time_since_epoch_in_micros"] / 1e6
    assert (abs(started - now) > OFF / 2) == is_wrong
    times = [event["ts"] for event in events if "ts" in event]
    assert len(times) > 100
    assert 0 <= min(times) and max(times) < LIMIT * 1e6
    begins = sum(event["ph"] == "B" for event in events)
    assert begins > 0 and begins == sum(event["ph"] == "E" for event in events)
    args = [event["args"] for event in events if event["ph"] == "B" and "args" in event]
    predicted = [a[key] for a in args for key in a if key.startswith("predicted")]
    assert all(0 <= value < LIMIT * 1e6 for value in predicted)
