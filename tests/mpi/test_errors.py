"""What init() says when MPI cannot do what is asked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import mpirun
import pytest


def init(how: str, ranks: int = 0, **variables: str) -> str:
    """The error of init(), alone or on so many ranks."""
    launcher = mpirun.mpirun(ranks) if ranks else []
    code, output = mpirun.run([*launcher, *mpirun.program("init_only.py", how)], **variables)
    assert code == 3
    return output


def test_without_mpi_a_controller_that_needs_it_is_refused() -> None:
    output = init("world", HOROVOD_CONTROLLER="mpi", HOROVODX_MPI_LIBRARY="/no/such/libmpi.so.40")
    assert "ValueError: Horovod initialization failed: HOROVOD_CONTROLLER is 'mpi'" in output
    assert "/no/such/libmpi.so.40" in output and "use horovodrun, which needs no MPI" in output


def test_without_mpi_a_launcher_of_mpi_is_named() -> None:
    """Such as srun or another MPI's mpiexec: better an error than jobs of one."""
    output = init("world", PMI_RANK="1", PMI_SIZE="2", HOROVODX_MPI_LIBRARY="/no/such/libmpi.so.40")
    assert "PMI_RANK says rank 1 of 2, but MPI cannot be used" in output


def test_without_mpi_links_by_it_are_refused() -> None:
    output = init("world", HOROVOD_CPU_OPERATIONS="mpi")
    assert "HOROVOD_CPU_OPERATIONS is 'mpi', but this process was not started by MPI" in output


def test_without_mpi_a_library_that_is_none() -> None:
    output = init("world", HOROVOD_CONTROLLER="mpi", HOROVODX_MPI_LIBRARY="libc.so.6")
    assert "libc.so.6 is no MPI" in output


def test_without_mpi_another_mpi_is_named(tmp_path: Path) -> None:
    """A library that says it is MPICH, as the real one would."""
    source = tmp_path / "mpich.c"
    source.write_text(
        "#include <string.h>\n"
        "int MPI_Get_library_version(char* text, int* length) {\n"
        '  strcpy(text, "MPICH Version:      4.1\\nMPICH Release date: whenever\\n");\n'
        "  *length = (int)strlen(text);\n  return 0;\n}\n"
    )
    library = tmp_path / "libmpi.so.12"
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    words = [compiler, "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(words, check=True, timeout=60)
    output = init("world", HOROVOD_CONTROLLER="mpi", HOROVODX_MPI_LIBRARY=str(library))
    assert "found MPICH Version:      4.1" in output and str(library) in output
    assert "which is not Open MPI 4 or 5" in output


def test_without_mpi_a_strange_comm() -> None:
    assert "ValueError: Invalid type of argument comm: str" in init("strange_type")


def test_a_launcher_of_another_mpi() -> None:
    """The environment says two, the library sees one."""
    output = init("world", PMI_RANK="0", PMI_SIZE="2")
    assert "PMI_RANK says rank 0 of 2, but Open MPI" in output
    assert "the launcher belongs to another MPI" in output


@pytest.mark.parametrize(("how", "given"), [("bad_ranks", "0,5"), ("same_ranks", "0,0")])
def test_ranks_that_are_none(how: str, given: str) -> None:
    output = init(how, ranks=2)
    assert f"init(comm=[{given}]): expected ranks from 0 to 1, each once" in output


class TestCommunicators:
    """mpi4py's."""

    @pytest.fixture(autouse=True)
    def mpi4py(self) -> None:
        pytest.importorskip("mpi4py")

    def test_no_mpi_for_it(self) -> None:
        output = init("communicator", HOROVODX_MPI_LIBRARY="/no/such/libmpi.so.40")
        assert "has not been built with MPI support" in output and "/no/such" in output

    def test_of_another_mpi(self, tmp_path: Path) -> None:
        """Another copy of libmpi has other handles, whatever its version."""
        find = "from mpi4py import MPI; print(*(l.split()[-1] for l in open('/proc/self/maps')))"
        words = [sys.executable, "-c", find]
        maps = subprocess.run(words, check=True, timeout=60, capture_output=True, text=True).stdout
        original = next(word for word in maps.split() if "/libmpi.so." in word)
        copy = shutil.copy(original, tmp_path / "libmpi.so.40")
        output = init("communicator", HOROVODX_MPI_LIBRARY=str(copy))
        assert "comm is a communicator of another MPI: mpi4py uses Open MPI" in output
        assert str(copy) in output

    def test_in_a_job_of_horovodrun(self) -> None:
        horovodrun = str(Path(sys.executable).with_name("horovodrun"))
        words = [horovodrun, "-np", "1", *mpirun.program("init_only.py", "communicator")]
        code, output = mpirun.run(words)
        assert code == 1
        assert "HOROVOD_CONTROLLER is 'gloo', as horovodrun sets it without --mpi" in output

    def test_sets_without_a_communicator_for_the_job(self) -> None:
        output = init("sets_without_comm")
        assert "NotImplementedError: Process sets made from MPI communicators" in output


@pytest.mark.parametrize("missing", [0, 1])
def test_a_rank_that_does_not_come_is_named(missing: int) -> None:
    pytest.importorskip("mpi4py")
    words = [*mpirun.mpirun(3), *mpirun.program("init_only.py", "missing_rank", str(missing))]
    code, output = mpirun.run(words, HOROVOD_GLOO_TIMEOUT_SECONDS="4")
    assert code not in (0, None)
    expected = "rank 1 is missing" if missing else "rank 0 of the communicator has not called"
    assert expected in output


@pytest.mark.parametrize("one_thread", ["0", "1"])
def test_mpi_that_waits_for_a_process_in_vain_is_left_alone(one_thread: str) -> None:
    """MPI_Init itself knows no limit, whatever it is told of threads."""
    settings = {"HOROVOD_MPI_THREADS_DISABLE": one_thread, "HOROVOD_GLOO_TIMEOUT_SECONDS": "2"}
    output = init("comes_late", ranks=2, **settings)
    assert "MPI_Init has not come back within 2 s: it waits until every process" in output
