"""The suites of compatibility, by mpirun: all files of each in one launch, over both kinds of link.

All launches of those suites, by mpirun:

    HVDX_LAUNCHER=mpirun pytest tests/compat tests/compat_tf
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import mpirun
import pytest

SECONDS = 900.0
PATIENT = {"HOROVODX_HEARTBEAT_SECONDS": "60", "HVDX_COMPAT_SECONDS": str(SECONDS * 0.9)}
# What runs other files: checks of compiling are many times longer than all others.
SUPPORT = {"conftest", "expected", "training", "compiled", "signs", "values", "whole_and_parts"}


def check(ranks: int, folders: list[Path], **variables: str) -> None:
    files = [str(f) for folder in folders for f in sorted(folder.glob("*.py"))
             if f.stem not in SUPPORT]  # fmt: skip
    assert len(files) > 10
    pytest_words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command = [*mpirun.mpirun(ranks), *pytest_words, *files]
    code, _ = mpirun.run(command, SECONDS, **PATIENT, **variables)
    assert code == 0


@pytest.mark.parametrize(("ranks", "transport"), [(3, "auto"), (2, "mpi")])
def test_torch(ranks: int, transport: str) -> None:
    check(ranks, [mpirun.COMPAT], HOROVODX_TRANSPORT=transport)


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="no TensorFlow")
def test_tensorflow(tmp_path: Path) -> None:
    variables = {
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "HVDX_KERAS": "tensorflow",
        "HVDX_COMPAT_DIRECTORY": str(tmp_path),
    }
    check(2, [mpirun.COMPAT_TF, mpirun.COMPAT_TF.parent / "keras_ranks"], **variables)
