"""The suites of compatibility, by mpirun: all files of a suite in one launch.

By default a sparse cover: every file, every number of ranks, both kinds of link and several hosts
each come at least once. All of it, {torch, TensorFlow} x {2, 3, 4 ranks} x {one host by shared
memory, one host by MPI's links, two hosts}:

    HVDX_MPI_SUITES=full pytest tests/mpi/test_suites.py

Every launch of those suites as they are, but by mpirun:

    HVDX_LAUNCHER=mpirun pytest tests/compat tests/compat_tf
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import mpirun
import pytest

SECONDS = 1500.0
FULL = os.environ.get("HVDX_MPI_SUITES") == "full"
PLACES = ["shm", "mpi", "hosts"]  # one host by shared memory or MPI's links; two hosts


class Case(NamedTuple):
    """One launch."""

    suite: str
    ranks: int
    place: str
    part: str = "all"  # of torch's: a job of tests/compat/test_torch.py


SPARSE = [
    Case("torch", 2, "hosts"),
    Case("torch", 3, "mpi", "collectives"),
    Case("torch", 4, "shm", "sets"),
    Case("tensorflow", 2, "shm"),
]
EVERYTHING = [
    Case(suite, ranks, place)
    for suite in ("torch", "tensorflow")
    for ranks in (2, 3, 4)
    for place in PLACES
]


def load(file: Path) -> Any:
    """A test file of another folder, for the lists in it."""
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location("mpi_" + file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def torch_files(part: str) -> list[Path]:
    suite = load(mpirun.COMPAT.parent / "test_torch.py")
    # Mistakes come last: ranks count unnamed calls, and afterwards their counts differ.
    jobs = sorted(suite.JOBS, key=lambda job: job == "errors")
    files = [file for job in jobs if part in ("all", job) for file in suite.JOBS[job]]
    if part == "all":
        files = [*suite.ELASTIC, *suite.COMPILED, *suite.SPLIT, *files]
    return [mpirun.COMPAT / file for file in files]


def tensorflow_files() -> list[Path]:
    suite = load(mpirun.COMPAT_TF.parent / "test_tensorflow.py")
    files = [*suite.FILES, *suite.rank_jobs.KERAS_FILES]
    return [mpirun.COMPAT_TF / file for file in files]


def settings(case: Case, folder: Path) -> dict[str, str]:
    """What both suites' own launches set, and the links."""
    common = {
        "HOROVODX_HEARTBEAT_SECONDS": "60",
        "HVDX_COMPAT_SECONDS": str(SECONDS * 0.9),
        "HOROVODX_TRANSPORT": "mpi" if case.place == "mpi" else "auto",
        "HVDX_HOSTS": "2" if case.place == "hosts" else "1",
        "PATH": os.environ["PATH"],
    }
    if case.suite == "torch":
        return {
            **common,
            "HOROVODX_SPLIT_BUCKET": "200",
            "TORCHINDUCTOR_CACHE_DIR": str(folder),
        }
    return {
        **common,
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "HVDX_KERAS": "tensorflow",
        "HVDX_COMPAT_DIRECTORY": str(folder),
    }


@pytest.mark.parametrize(
    "case", EVERYTHING if FULL else SPARSE, ids=lambda case: "-".join(map(str, case))
)
def test_suite(case: Case, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if case.suite == "tensorflow" and importlib.util.find_spec("tensorflow") is None:
        pytest.skip("no TensorFlow")
    files = torch_files(case.part) if case.suite == "torch" else tensorflow_files()
    assert len(files) >= 3 and all(file.exists() for file in files)
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--durations=8"]
    command = [*words, *map(str, files)]
    variables = settings(case, tmp_path)
    if case.place == "hosts":
        two = request.getfixturevalue("two")
        slots = two.slots((case.ranks + 1) // 2)
        done = mpirun.run_on_hosts(two, slots, case.ranks, command, seconds=SECONDS, **variables)
    else:
        done = mpirun.run([*mpirun.mpirun(case.ranks), *command], SECONDS, **variables)
    assert done.code == 0 and done.output.count(" passed") == case.ranks


def test_the_sparse_cover_leaves_no_file_out() -> None:
    assert Case("torch", 2, "hosts") in SPARSE and {case.ranks for case in SPARSE} == {2, 3, 4}
    assert {case.place for case in SPARSE} == set(PLACES)
    here = {path.name for path in torch_files("all")}
    support = {"conftest.py", "expected.py", "training.py"}
    assert here == {path.name for path in mpirun.COMPAT.glob("*.py")} - support
