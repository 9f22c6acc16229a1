"""Without MPI there is nothing to test here; what ranks run is for ranks alone."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # for support.ssh_hosts

import mpirun

collect_ignore = ["programs"]
REASON = mpirun.why_not()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of what is said without MPI run everywhere."""
    for item in items:
        if REASON is not None and "without_mpi" not in item.name:
            item.add_marker(pytest.mark.skip(reason=REASON))
