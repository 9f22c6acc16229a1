"""Scripts that mpirun starts need no horovodrun."""

from pathlib import Path

import mpirun
import pytest


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_find_each_other(ranks: int, tmp_path: Path) -> None:
    """And inside a host they share memory: nothing goes over links of any kind."""
    timeline = tmp_path / "timeline"
    code, output = mpirun.run_ranks(ranks, "bootstrap.py", HOROVOD_TIMELINE=str(timeline))
    assert code == 0
    assert set().union(*mpirun.algorithms(timeline).values()) == {"staged"}
    for rank in range(ranks):
        facts = "(True, True, True, False)"
        assert f"rank {rank} of {ranks} {rank}/{ranks} 0/1 {facts}" in output


def test_communicators() -> None:
    pytest.importorskip("mpi4py")
    ranks = 3  # of two, all groups are the same
    code, output = mpirun.run_ranks(ranks, "communicators.py")
    assert code == 0
    assert output.count("done") == ranks
    assert output.count("it is on its own") == ranks - 2


def test_the_controller_may_be_named() -> None:
    done = mpirun.run_ranks(2, "init_only.py", "world", HOROVOD_CONTROLLER="MPI")
    assert done.code == 0 and done.output.count("size 2 True False") == 2


def test_our_own_links_under_mpirun() -> None:
    done = mpirun.run_ranks(2, "init_only.py", "world", HOROVOD_CPU_OPERATIONS="gloo")
    assert done.code == 0 and done.output.count("size 2 True True") == 2


def test_one_thread_for_mpi() -> None:
    done = mpirun.run_ranks(2, "init_only.py", "world", HOROVOD_MPI_THREADS_DISABLE="1")
    assert done.code == 0 and done.output.count("size 2 True True") == 2  # links are TCP then
    assert done.output.count("threads False") == 2


def test_gloo_leaves_mpi_alone() -> None:
    """Then nobody says who else there is: each is on its own, as without a launcher."""
    done = mpirun.run_ranks(2, "init_only.py", "world", HOROVOD_CONTROLLER="gloo")
    assert done.code == 0 and done.output.count("size 1 False True") == 2


def test_mpi_alone() -> None:
    """Without mpirun MPI knows of one process."""
    done = mpirun.run(mpirun.program("init_only.py", "world"), HOROVOD_CONTROLLER="mpi")
    assert done.code == 0 and "size 1 True" in done.output
