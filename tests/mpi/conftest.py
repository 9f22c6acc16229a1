"""Without MPI there is nothing to test here; what ranks run is for ranks alone."""

import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # for support.ssh_hosts

import mpirun
from support import ssh_hosts

collect_ignore = ["programs"]
REASON = mpirun.why_not()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of what is said without MPI run everywhere."""
    for item in items:
        if REASON is not None and "without_mpi" not in item.name:
            item.add_marker(pytest.mark.skip(reason=REASON))


@pytest.fixture(scope="session")
def two() -> Iterator[ssh_hosts.SshHosts]:
    """Two hosts: network namespaces with an sshd each."""
    reason = ssh_hosts.why_not()
    if reason is not None:
        pytest.skip(reason)
    with ssh_hosts.SshHosts(2) as hosts:
        yield hosts
