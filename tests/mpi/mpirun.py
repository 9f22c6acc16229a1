"""Starts ranks by a real mpirun, on this host or several, and never waits for ever."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from support.ssh_hosts import INTERFACE, PORT, SshHosts

PROGRAMS = Path(__file__).parent / "programs"
COMPAT = Path(__file__).parent.parent / "compat" / "ranks"
COMPAT_TF = Path(__file__).parent.parent / "compat_tf" / "ranks"
SECONDS = 120.0
# More ranks than cores must not spin against each other while MPI starts.
QUIET = ["--mca", "mpi_yield_when_idle", "1"]


class Outcome(NamedTuple):
    """How a job ended."""

    code: int | None  # None: it had not ended at the deadline and was killed
    output: str


def why_not() -> str | None:
    """Why nothing can be run by MPI here; None if it can."""
    if shutil.which("mpirun") is None:
        return "mpirun is not installed"
    from horovod.common import util

    return util.why_no_mpi() or None


def environment(**more: str) -> dict[str, str]:
    """Ours, without what an outer job may have left in it."""
    foreign = ("HOROVOD", "PYTEST_", "OMPI_", "PMIX_", "PMI_", "SLURM_", "LSB_")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    clean.pop("PYTHONUNBUFFERED", None)  # a line is to be one write: mpirun mixes writes of ranks
    return {**clean, "OMP_NUM_THREADS": "1", **more}


def mpirun(ranks: int, *options: str) -> list[str]:
    """The launcher, up to the command that every rank runs."""
    return ["mpirun", "--oversubscribe", "--allow-run-as-root", *QUIET, *options, "-np", str(ranks)]


def program(name: str, *words: str) -> list[str]:
    """A file of programs/."""
    return [sys.executable, str(PROGRAMS / name), *words]


def run(command: list[str], seconds: float = SECONDS, **variables: str) -> Outcome:
    """Runs a command for at most so many seconds."""
    job = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**variables),
        start_new_session=True,  # so that whatever it started can be ended with it
    )
    try:
        output, _ = job.communicate(timeout=seconds)
        done = Outcome(job.returncode, output)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        output, _ = job.communicate()
        done = Outcome(None, output)
    print(done.output)
    return done


def run_ranks(ranks: int, name: str, *words: str, **variables: str) -> Outcome:
    """Runs a file of programs/ on so many ranks of this host."""
    return run([*mpirun(ranks), *program(name, *words)], **variables)


def run_on_hosts(
    hosts: SshHosts,
    slots: str,
    ranks: int,
    command: list[str],
    *options: str,
    seconds: float = SECONDS,
    **variables: str,
) -> Outcome:
    """By mpirun on host 0, which reaches the others by their sshd."""
    settings = {
        "plm_rsh_agent": f"{hosts.folder}/bin/ssh",
        "plm_rsh_args": f"-p {PORT} -i {hosts.key} -o StrictHostKeyChecking=no",
        "btl_tcp_if_include": INTERFACE,
        "oob_tcp_if_include": INTERFACE,
    }
    words = [word for name, value in settings.items() for word in ("--mca", name, value)]
    variables = {"HOROVODX_HEARTBEAT_SECONDS": "60", "OMP_NUM_THREADS": "1", **variables}
    words += [word for name in variables for word in ("-x", name)]
    words = [*mpirun(ranks, *words, *options, "-H", slots), *command]
    # Open MPI itself breaks where two hosts have one name, as these have.
    renamed = ["unshare", "--uts", "sh", "-c", 'hostname hvdx-zero && exec "$@"', "renamed", *words]
    return run(hosts.inside(0, renamed), seconds, **{"HOME": hosts.folder, **variables})


def algorithms(timeline: Path) -> dict[str, set[str]]:
    """By tensor, what its allreduces really ran, as rank 0 has written it down."""
    events = json.loads(timeline.read_text())
    names = {e["pid"]: e["args"].get("name") for e in events if e.get("name") == "process_name"}
    found: dict[str, set[str]] = {}
    for event in events:
        if event["ph"] == "B" and event["name"] == "ALLREDUCE":
            name = names[event["pid"]].removeprefix("allreduce.")
            found.setdefault(name, set()).add(event["args"]["algorithm"])
    return found
