"""Starts ranks as users do, and never waits for ever."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional

RANKS = Path(__file__).parent / "ranks"
_KERAS = ("optimizer", "callbacks", "saving", "keras_elastic")
KERAS_FILES = [f"../keras_ranks/{name}.py" for name in _KERAS]


class Outcome(NamedTuple):
    """How a job ended."""

    code: Optional[int]  # None: it had not ended at the deadline and was killed
    output: str


def environment(**more: str) -> Dict[str, str]:
    """Ours, without what an outer job may have left in it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HOROVOD", "PYTEST_"))}
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
    patient = {"HOROVODX_HEARTBEAT_SECONDS": "60"}  # three TensorFlows on two cores are slow
    return {**clean, **quiet, "OMP_NUM_THREADS": "1", **patient, **more}


def run(
    ranks: int, command: List[str], deadline: float, python: str = sys.executable, **variables: str
) -> Outcome:
    """Runs a command on so many ranks of this host, for at most `deadline` seconds."""
    launcher = [str(Path(python).with_name("horovodrun"))]
    if os.environ.get("HVDX_LAUNCHER") == "mpirun":
        launcher = "mpirun --oversubscribe --allow-run-as-root".split()
    job = subprocess.Popen(
        [*launcher, "-np", str(ranks), *command],
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
    ranks: int, files: List[str], deadline: float, python: str = sys.executable, **variables: str
) -> Outcome:
    """Runs files of ranks/ with pytest on every rank, all in step.

    A little before the deadline ranks say where they stand, and end.
    """
    pytest = [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    variables["HVDX_COMPAT_SECONDS"] = str(deadline * 0.9)
    command = [*pytest, *(str(RANKS / file) for file in files)]
    with tempfile.TemporaryDirectory() as directory:
        variables["HVDX_COMPAT_DIRECTORY"] = directory  # ranks leave signs for each other in it
        return run(ranks, command, deadline, python, **variables)
