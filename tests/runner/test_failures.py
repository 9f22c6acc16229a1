"""One worker fails: all end at once, and the error says who, where, how and why."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from conftest import Run


def fail(rank: int, how: str) -> list[str]:
    """A command of which one rank fails; the others would run for long."""
    return ["sh", "-c", f"[ $HOROVOD_RANK = {rank} ] || exec sleep 1000; {how}"]


def test_exit_code_and_last_lines_are_told(run: Run, mark: str) -> None:
    name, value = mark.split("=")
    begin = time.monotonic()
    done = run("-np", "3", *fail(1, "echo one >&2; echo two >&2; exit 7"), env={name: value})
    assert time.monotonic() - begin < 4  # did not wait for grace
    assert done.returncode == 1
    assert "Process 1 exit with status code 7." in done.stdout.splitlines()
    assert "Terminating remaining workers after failure of Process 1" in done.stderr
    error = done.stderr.partition("RuntimeError: ")[2]
    assert "Horovod detected that one or more processes exited with non-zero status" in error
    assert "Process name: 1\nExit code: 7\n" in error
    assert "Rank 1 (local rank 1) on host localhost exited with code 7" in error
    assert "  [1]<stderr>:one\n  [1]<stderr>:two\n" in error
    assert "Traceback" not in done.stderr


def test_signals_are_named(run: Run) -> None:
    done = run("-np", "2", *fail(0, "kill -SEGV $$"))
    assert done.returncode == 1
    assert "Process name: 0\nExit code: 139\n" in done.stderr
    assert "was killed by signal 11 (SIGSEGV)" in done.stderr


def test_only_the_first_failure_is_reported(run: Run) -> None:
    done = run("-np", "2", *fail(1, "exit 3"))
    assert done.stdout.count("exit with status code") == 1


def test_workers_get_time_after_sigterm(run: Run, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    program = (
        "import os, signal, sys, time\n"
        "def bye(*_): print('saved', flush=True); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, bye)\n"
        "if os.environ['HOROVOD_RANK'] == '0':\n"
        f"    while not os.path.exists('{ready}'): time.sleep(0.01)\n"
        "    sys.exit(4)\n"
        f"open('{ready}', 'w').close()\n"
        "time.sleep(1000)"
    )
    done = run("-np", "2", sys.executable, "-c", program)
    assert "[1]<stdout>:saved" in done.stdout.splitlines()
    assert "Exit code: 4" in done.stderr


def test_workers_that_ignore_sigterm_are_killed(run: Run, mark: str, tmp_path: Path) -> None:
    name, value = mark.split("=")
    ready = tmp_path / "ready"
    command = (
        f"if [ $HOROVOD_RANK = 0 ]; then until [ -e {ready} ]; do sleep 0.05; done; exit 1; fi; "
        f"trap '' TERM; touch {ready}; while :; do sleep 1; done"
    )
    begin = time.monotonic()
    done = run("-np", "2", "sh", "-c", command, env={name: value})
    assert done.returncode == 1
    assert 4 < time.monotonic() - begin < 9


def test_a_command_that_does_not_exist(run: Run) -> None:
    done = run("-np", "1", "no-such-command", "x")
    assert done.returncode == 1
    assert "cannot run 'no-such-command'" in done.stderr
    assert "No such file or directory" in done.stderr
    assert "Exit code: 127" in done.stderr


def test_an_uncaught_exception_is_shown(run: Run) -> None:
    done = run("-np", "1", sys.executable, "-c", "raise KeyError('lr')")
    assert "KeyError: 'lr'" in done.stderr.partition("last lines of its output")[2]


@pytest.mark.parametrize(
    ("words", "code", "fragment"),
    [
        (["-np", "2"], 2, "command to run is missing"),
        (["true"], 2, "-np"),
        (["-np", "0", "true"], 2, "at least one"),
        (["-np", "x", "true"], 2, "invalid int value"),
        (["-np2", "true"], 2, "-np"),
        (["-np", "1", "--no-such-option", "true"], 2, "no-such-option"),
        (["-np", "1", "-H", "a:1", "--hostfile", "f", "true"], 2, "not allowed with"),
        (["-np", "1", "--gloo", "--mpi", "true"], 2, "not allowed with"),
        (["-np", "1", "--log-level", "info", "true"], 2, "invalid choice"),
        (["-np", "1", "--hostfile", "/no/such", "true"], 2, "no such file"),
        (["-np", "1", "--config-file", "/no/such", "true"], 2, "cannot read the config file"),
        (["-np", "1", "-H", "a", "true"], 1, "Invalid host input"),
        (["-np", "1", "-H", "a:b", "true"], 1, "Invalid host input"),
        (["-np", "3", "-H", "localhost:2", "true"], 1,
         "Requested more processes (3) than there are available slots (2)"),
        (["-np", "1", "--cycle-time-ms", "-1", "true"], 1, "cycle_time_ms"),
        (["-np", "1", "--autotune", "--autotune-gaussian-process-noise", "2", "true"], 1, "[0, 1]"),
        (["-np", "1", "--min-np", "1", "true"], 1, "not available yet"),
        (["-np", "1", "--host-discovery-script", "x", "true"], 1, "not available yet"),
        (["-np", "1", "--network-interfaces", "nic9", "true"], 1,
         "No interface is found for address 127.0.0.1."),
    ],
)  # fmt: skip
def test_bad_input(run: Run, words: list[str], code: int, fragment: str) -> None:
    done = run(*words)
    assert done.returncode == code, done.stderr
    assert fragment in done.stderr
    assert done.stdout == ""
