"""The library that this environment has, with another TensorFlow. Optional: it downloads one.

    HVDX_OTHER_TENSORFLOW=2.17.1 pytest tests/compat_tf/test_other_version.py

A virtual environment is made for it and goes when the test has ended; HorovodX is taken from the
environment that runs the test, as it is. HVDX_OTHER_TENSORFLOW may also be the directory of a
virtual environment that has another TensorFlow, with pytest and what HorovodX depends on.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import rank_jobs

import horovodx

OTHER = os.environ.get("HVDX_OTHER_TENSORFLOW")
FILES = [
    "allreduce.py",
    "movement.py",
    "reducescatter.py",
    "gradients.py",
    "names.py",
    "overlap.py",
    "errors.py",
    "tape.py",
    "library.py",
    "xla.py",
]


def _make_environment(directory: Path, version: str) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
    packages = [f"tensorflow-cpu=={version}", "pytest", "cloudpickle", "packaging", "psutil",
                "pyyaml"]  # fmt: skip
    install = [str(directory / "bin/python"), "-m", "pip", "install", "-q", *packages]
    subprocess.run([*install, "--disable-pip-version-check"], check=True)


def _answer(python: Path, question: str) -> str:
    """What a line of Python prints."""
    return subprocess.run(
        [str(python), "-c", question],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=rank_jobs.environment(),
    ).stdout.split()[-1]


def _add_horovodx(directory: Path, python: Path) -> None:
    """What this environment has."""
    site = _answer(python, "import sysconfig; print(sysconfig.get_paths()['platlib'])")
    ours = Path(horovodx.__file__).parent.parent
    for package in ("horovod", "horovodx"):
        link = Path(site) / package
        link.unlink(missing_ok=True)
        link.symlink_to(ours / package)
    launcher = directory / "bin" / "horovodrun"
    launcher.write_text(
        f"#!{python}\nimport sys\nfrom horovod.runner.launch import run_commandline\n"
        "sys.exit(run_commandline())\n"
    )
    launcher.chmod(0o755)


@pytest.mark.skipif(OTHER is None, reason="HVDX_OTHER_TENSORFLOW names no version")
def test_other_version(tmp_path: Path) -> None:
    other = str(OTHER)
    directory = Path(other) if os.path.isdir(other) else tmp_path
    python = directory / "bin" / "python"
    if directory == tmp_path:
        _make_environment(directory, other)
    _add_horovodx(directory, python)
    question = "import tensorflow as tf; print(tf.__version__)"
    version = _answer(python, question)
    assert version != _answer(Path(sys.executable), question)
    assert directory != tmp_path or version == other
    files = [*FILES, *rank_jobs.KERAS_FILES]
    keras = _answer(python, "from importlib.metadata import version; print(version('keras'))")
    which = "legacy" if keras.startswith("2.") else "tensorflow"
    code, output = rank_jobs.run_checks(2, files, 600.0, str(python), HVDX_KERAS=which)
    print(f"TensorFlow {version}\n{output}")
    assert code == 0
