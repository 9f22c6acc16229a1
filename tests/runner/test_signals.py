"""However the launcher ends, no worker survives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Callable

import pytest
from conftest import SECONDS, processes_with, wait_until

Start = Callable[..., "subprocess.Popen[str]"]

# A worker with a child in a session of its own, and one that was left by its parent.
FAMILY = (
    "import os, subprocess, sys, time\n"
    "subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
    "subprocess.run(['sh', '-c', 'setsid sleep 1000 >/dev/null 2>&1 &'])\n"
    "print('ready', flush=True)\n"
    "time.sleep(1000)\n"
)


def start_family(start: Start, mark: str, ranks: int = 2) -> subprocess.Popen[str]:
    name, value = mark.split("=")
    job = start("-np", str(ranks), sys.executable, "-c", FAMILY, env={name: value})
    assert job.stdout is not None
    for _ in range(ranks):
        assert job.stdout.readline().endswith("ready\n")
    return job


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signal_to_the_launcher_ends_everything(start: Start, mark: str, number: int) -> None:
    job = start_family(start, mark)
    assert len(processes_with(mark)) >= 7
    begin = time.monotonic()
    job.send_signal(number)
    assert job.wait(SECONDS) == -number
    wait_until(lambda: not processes_with(mark), "the end of all processes")
    assert time.monotonic() - begin < 4
    if number != signal.SIGKILL:
        assert job.stderr is not None
        assert f"{signal.Signals(number).name}: terminating all workers" in job.stderr.read()


def test_interrupt_of_a_whole_terminal_group(start: Start, mark: str) -> None:
    name, value = mark.split("=")
    job = start("-np", "2", "sleep", "1000", env={name: value}, start_new_session=True)
    wait_until(lambda: len(processes_with(mark)) >= 4, "workers")
    os.killpg(job.pid, signal.SIGINT)
    assert job.wait(SECONDS) == -signal.SIGINT


def test_a_second_interrupt_does_not_wait(start: Start, mark: str) -> None:
    name, value = mark.split("=")
    stubborn = "trap '' TERM INT; echo ready; while :; do sleep 1; done"
    job = start("-np", "1", "sh", "-c", stubborn, env={name: value})
    assert job.stdout is not None and job.stderr is not None
    job.stdout.readline()
    begin = time.monotonic()
    job.send_signal(signal.SIGINT)
    assert "terminating" in job.stderr.readline()
    job.send_signal(signal.SIGINT)
    assert job.wait(SECONDS) == -signal.SIGINT
    assert time.monotonic() - begin < 4


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


@pytest.mark.parametrize("victim", ["guard", "agent"])
def test_a_killed_agent_takes_everything_along(start: Start, mark: str, victim: str) -> None:
    job = start_family(start, mark)
    (guard,) = children(job.pid)
    (agent,) = children(guard)
    os.kill(guard if victim == "guard" else agent, signal.SIGKILL)
    _, errors = job.communicate(timeout=SECONDS)
    assert job.returncode == 1
    assert "Horovod detected that one or more processes exited" in errors
    if victim == "agent":
        assert "was lost with its host: horovodrun: the agent on" in errors


def test_a_failed_launcher_does_not_leave_workers(start: Start, mark: str) -> None:
    """The launcher is stopped first, so it cannot help in its own end."""
    job = start_family(start, mark, ranks=1)
    job.send_signal(signal.SIGSTOP)
    job.send_signal(signal.SIGKILL)
    job.wait(SECONDS)
    wait_until(lambda: not processes_with(mark), "the end of all processes")
