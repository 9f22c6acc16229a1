"""Starts ranks as users do, and never waits for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

RANKS = Path(__file__).parent / "ranks"


class Outcome(NamedTuple):
    """How a job ended."""

    code: int | None  # None: it had not ended at the deadline and was killed
    output: str


def horovodrun(ranks: int) -> list[str]:
    """The launcher, up to the command that every rank runs: mpirun if HVDX_LAUNCHER says so."""
    if os.environ.get("HVDX_LAUNCHER") == "mpirun":
        return [*"mpirun --oversubscribe --allow-run-as-root -np".split(), str(ranks)]
    return [str(Path(sys.executable).with_name("horovodrun")), "-np", str(ranks)]


def environment(**more: str) -> dict[str, str]:
    """Ours, without what an outer job may have left in it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HOROVOD", "PYTEST_"))}
    return {**clean, "OMP_NUM_THREADS": "1", **more}


def run(ranks: int, command: list[str], deadline: float, **variables: str) -> Outcome:
    """Runs a command on so many ranks of this host, for at most `deadline` seconds."""
    job = subprocess.Popen(
        [*horovodrun(ranks), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**variables),
        start_new_session=True,  # so that whatever it started can be ended with it
    )
    try:
        output, _ = job.communicate(timeout=deadline)
        return Outcome(job.returncode, output)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        output, _ = job.communicate()
        return Outcome(None, output)


def run_checks(
    ranks: int, files: list[str], deadline: float, seconds: float = 0.0, **variables: str
) -> Outcome:
    """Runs files of ranks/ with pytest on every rank, all in step.

    After `seconds`, or a little before the deadline, ranks say where they stand, and end.
    """
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    variables["HVDX_COMPAT_SECONDS"] = str(seconds or deadline * 0.9)
    return run(ranks, [*pytest, *(str(RANKS / file) for file in files)], deadline, **variables)
