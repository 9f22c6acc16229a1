"""Starts ranks as users do, and never waits for ever."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import List, NamedTuple, Optional

RANKS = Path(__file__).parent / "ranks"


class Outcome(NamedTuple):
    """How a job ended."""

    code: Optional[int]  # None: it had not ended at the deadline and was killed
    output: str


def horovodrun(ranks: int) -> List[str]:
    """The launcher, up to the command that every rank runs."""
    return [str(Path(sys.executable).with_name("horovodrun")), "-np", str(ranks)]


def environment(**more: str) -> "dict[str, str]":
    """Ours, without what an outer job may have left in it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HOROVOD", "PYTEST_"))}
    return {**clean, "OMP_NUM_THREADS": "1", **more}


def run(ranks: int, command: List[str], deadline: float, **variables: str) -> Outcome:
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


def run_checks(ranks: int, files: List[str], deadline: float, **variables: str) -> Outcome:
    """Runs files of ranks/ with pytest on every rank, all in step."""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    # A little before the deadline ranks say where they stand.
    variables.setdefault("HVDX_COMPAT_SECONDS", str(deadline * 0.9))
    return run(ranks, [*pytest, *(str(RANKS / file) for file in files)], deadline, **variables)
