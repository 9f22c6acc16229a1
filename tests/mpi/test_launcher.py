"""horovodrun --mpi and horovod.run(use_mpi=True)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpirun
import pytest

from horovod.common import util
from horovod.runner import mpi_run
from horovod.runner.common.util.settings import Settings

NOWHERE = "/no/such/libmpi.so.40"


def horovodrun(*words: str, **variables: str) -> mpirun.Outcome:
    """On this host."""
    return mpirun.run([str(Path(sys.executable).with_name("horovodrun")), *words], **variables)


def fake_mpirun(folder: Path, says: str, code: int = 0) -> dict[str, str]:
    """An environment with an mpirun that says this when asked for its version."""
    file = folder / "mpirun"
    file.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    file.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("says", "name"),
    [
        ("mpirun (Open MPI) 4.1.4", "Open MPI"),
        ("mpirun (Open MPI) 5.0.11", "Open MPI"),
        ("mpiexec (OpenRTE) 2.1.1", "Open MPI"),
        ("mpirun (IBM Spectrum MPI) 10.3.0", "IBM Spectrum MPI"),
        ("HYDRA build details: Version: 4.0", "MPICH"),
        ("Intel(R) MPI Library for Linux* OS", "Intel MPI"),
        ("something else", None),
    ],
)
def test_without_mpi_whose_mpirun(tmp_path: Path, says: str, name: str | None) -> None:
    env = fake_mpirun(tmp_path, says)
    asked = {
        "Open MPI": mpi_run.is_open_mpi(env),
        "IBM Spectrum MPI": mpi_run.is_spectrum_mpi(env),
        "MPICH": mpi_run.is_mpich(env),
        "Intel MPI": mpi_run.is_intel_mpi(env),
    }
    assert [one for one, yes in asked.items() if yes] == ([name] if name else [])
    assert mpi_run.mpi_available(env) is (name is not None)
    settings = Settings(num_proc=2, hosts="a:1,b:1")
    if name == "Open MPI":
        assert mpi_run.mpirun_words(settings, None, env, ["true"]).startswith("mpirun ")
        return
    with pytest.raises(RuntimeError, match="needs mpirun of Open MPI.*horovodrun --gloo") as error:
        mpi_run.mpirun_words(settings, None, env, ["true"])
    assert name is None or f"found is {name}'s" in str(error.value)


def test_without_mpi_the_command_line(tmp_path: Path) -> None:
    env = {**fake_mpirun(tmp_path, "mpirun (Open MPI) 4.1.4"), "B": "1", "A": "2",
           "HOROVODX_SECRET": "x", "OLDPWD": "/"}  # fmt: skip
    settings = Settings(
        num_proc=3, hosts="a:2,b:2", ssh_port=22, ssh_identity_file="/k", output_filename="/o p",
        extra_mpi_args="--more", prefix_output_with_timestamp=True,
    )  # fmt: skip
    assert mpi_run.mpirun_words(settings, ["e1", "e0"], env, ["run", "a b"]) == (
        "mpirun --allow-run-as-root --tag-output --timestamp-output -np 3 -H a:2,b:2 -bind-to none "
        '-map-by slot -mca pml ob1 -mca btl ^openib --mca plm_rsh_args "-p 22 -i /k" '
        "--mca btl_tcp_if_include e0,e1 -x NCCL_SOCKET_IFNAME=e0,e1 --output-filename '/o p' "
        "-x A -x B -x PATH --more run 'a b'"
    )
    settings = Settings(num_proc=2, binding_args="--bind-to core")
    line = mpi_run.mpirun_words(settings, None, {"PATH": env["PATH"]}, "a line")
    assert "-H localhost:2 --bind-to core -mca" in line and line.endswith(" -x PATH a line")
    with pytest.raises(ValueError, match="Requested more processes"):
        mpi_run.mpirun_words(Settings(num_proc=3, hosts="a:2"), None, env, ["true"])


def test_without_mpi_it_is_refused() -> None:
    for word in ("--mpi", "--jsrun"):
        code, output = horovodrun("-np", "1", word, "true", HOROVODX_MPI_LIBRARY=NOWHERE)
        assert code == 1
        assert "MPI support has not been built" in output and "HOROVOD_WITH_MPI=1" in output
        assert NOWHERE in output
    code, output = horovodrun("--check-build", HOROVODX_MPI_LIBRARY=NOWHERE)
    assert code == 0 and "[ ] MPI" in output and "[X] MPI" not in output


def test_a_command() -> None:
    words = ["-np", "2", "--mpi", "--mpi-args=--oversubscribe", "--fusion-threshold-mb", "3"]
    program = "import os, horovod.torch as hvd; hvd.init(); print(hvd.rank(), hvd.size(), " + (
        "hvd.mpi_enabled(), os.environ['HOROVOD_FUSION_THRESHOLD'])"
    )
    code, output = horovodrun(*words, sys.executable, "-c", program)
    assert code == 0
    assert "0 2 True 3145728" in output and "1 2 True 3145728" in output
    assert "[1,0]<stdout>:" in output and "[1,1]<stdout>:" in output
    code, output = horovodrun("--check-build")
    assert code == 0 and output.count("[X] MPI") == 2
    assert util.why_no_mpi() == ""


def test_its_exit_code_is_mpiruns() -> None:
    assert horovodrun("-np", "1", "--mpi", "sh", "-c", "exit 7").code == 7


def test_a_function(tmp_path: Path) -> None:
    program = tmp_path / "call.py"
    program.write_text(
        "import sys, horovod\n"
        "def f(x):\n"
        "    import horovod.torch as hvd\n"
        "    hvd.init()\n"
        "    assert x < 10, 'too much'\n"
        "    return hvd.rank(), hvd.size(), x, hvd.mpi_enabled()\n"
        "print(horovod.run(f, args=(3,), num_proc=2, use_mpi=True))\n"
        "try:\n"
        "    horovod.run(f, args=(30,), num_proc=1, use_mpi=True)\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, env=mpirun.environment(), text=True,
        capture_output=True, timeout=mpirun.SECONDS, check=False,
    )  # fmt: skip
    print(done.stderr)
    assert "[(0, 2, 3, True), (1, 2, 3, True)]" in done.stdout
    assert "mpirun failed with exit code 1" in done.stdout and "too much" in done.stderr
    assert os.listdir(tmp_path) == ["call.py"]
