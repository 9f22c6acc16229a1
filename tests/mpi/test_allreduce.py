"""MPI's own allreduce as one more algorithm."""

import mpirun
import pytest

PATIENT = {"HOROVODX_HEARTBEAT_SECONDS": "60", "HOROVODX_ALLREDUCE": "mpi:0-max"}


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_over_mpi(ranks: int) -> None:
    code, output = mpirun.run_ranks(ranks, "allreduce.py", HOROVODX_TRANSPORT="mpi", **PATIENT)
    assert code == 0 and output.count("done") == ranks


def test_the_ring_takes_its_place_on_other_links() -> None:
    code, output = mpirun.run_ranks(2, "allreduce.py", HOROVODX_TRANSPORT="tcp", **PATIENT)
    assert code == 0 and output.count("done") == 2
