"""The library that this environment has, with another TensorFlow. Optional: it downloads one.

    HVDX_OTHER_TENSORFLOW=2.17.1 pytest tests/compat_tf/test_other_version.py

A virtual environment is made for it and goes when the test has ended; HorovodX is taken from the
environment that runs the test, as it is.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import rank_jobs

import horovodx

VERSION = os.environ.get("HVDX_OTHER_TENSORFLOW")
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


@pytest.mark.skipif(VERSION is None, reason="HVDX_OTHER_TENSORFLOW names no version")
def test_other_version(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    python = tmp_path / "bin" / "python"
    packages = [f"tensorflow-cpu=={VERSION}", "pytest", "cloudpickle", "packaging", "psutil",
                "pyyaml"]  # fmt: skip
    install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    subprocess.run(install, check=True)
    site = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['platlib'])"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    ours = Path(horovodx.__file__).parent.parent
    for package in ("horovod", "horovodx"):
        (Path(site) / package).symlink_to(ours / package)
    launcher = tmp_path / "bin" / "horovodrun"
    launcher.write_text(
        f"#!{python}\nimport sys\nfrom horovod.runner.launch import run_commandline\n"
        "sys.exit(run_commandline())\n"
    )
    launcher.chmod(0o755)
    seen = subprocess.run(
        [str(python), "-c", "import tensorflow as tf; print(tf.__version__)"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=rank_jobs.environment(),
    ).stdout
    assert seen.split()[-1] == VERSION
    code, output = rank_jobs.run_checks(2, FILES, 300.0, str(python))
    print(output)
    assert code == 0
