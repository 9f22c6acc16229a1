"""The suites of compatibility, by mpirun: all files of each in one launch, over both kinds of link.

All launches of those suites, by mpirun:

    HVDX_LAUNCHER=mpirun pytest tests/compat tests/compat_tf
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import mpirun
import pytest

SECONDS = 900.0
PATIENT = {"HOROVODX_HEARTBEAT_SECONDS": "60", "HVDX_COMPAT_SECONDS": str(SECONDS * 0.9)}


def load(file: Path) -> Any:
    """A test file of another folder, for the lists in it."""
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location("mpi_" + file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(ranks: int, files: list[Path], **variables: str) -> None:
    assert len(files) > 10 and all(file.exists() for file in files)
    pytest_words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command = [*mpirun.mpirun(ranks), *pytest_words, *map(str, files)]
    code, _ = mpirun.run(command, SECONDS, **PATIENT, **variables)
    assert code == 0


@pytest.mark.parametrize(("ranks", "transport"), [(3, "auto"), (2, "mpi")])
def test_torch(ranks: int, transport: str) -> None:
    suite = load(mpirun.COMPAT.parent / "test_torch.py")
    # Mistakes come last: ranks count unnamed calls, and afterwards their counts differ.
    jobs = sorted(suite.JOBS, key=lambda job: job == "errors")
    files = [*suite.ELASTIC, *(file for job in jobs for file in suite.JOBS[job])]
    check(ranks, [mpirun.COMPAT / file for file in files], HOROVODX_TRANSPORT=transport)


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="no TensorFlow")
def test_tensorflow(tmp_path: Path) -> None:
    variables = {
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "HVDX_KERAS": "tensorflow",
        "HVDX_COMPAT_DIRECTORY": str(tmp_path),
    }
    suite = load(mpirun.COMPAT_TF.parent / "test_tensorflow.py")
    files = [*suite.FILES, *suite.rank_jobs.KERAS_FILES]
    check(2, [mpirun.COMPAT_TF / file for file in files], **variables)
