"""MPI's own allreduce as one more algorithm: by a rule here, by what it takes in test_links.py."""

from __future__ import annotations

from pathlib import Path

import mpirun
import pytest
from support.ssh_hosts import SshHosts

RULE = {"HOROVODX_HEARTBEAT_SECONDS": "60", "HOROVODX_ALLREDUCE": "mpi:0-max"}


def check(done: mpirun.Outcome, ranks: int, timeline: Path, links: str) -> None:
    """Everything was right, and what ran is what was asked for wherever MPI has it."""
    assert done.code == 0 and done.output.count("done") == ranks
    ran = mpirun.algorithms(timeline)
    assert {"big", "mean", "a", "torch.int8.7.1", "torch.float16.7.1"} <= ran.keys()
    assert ("few" in ran) == (ranks > 2)
    for tensor, algorithms in ran.items():
        has = links == "mpi" and not tensor.startswith(("torch.float16", "torch.bfloat16"))
        assert algorithms == {"mpi" if has else "ring"}, tensor


@pytest.mark.parametrize(("ranks", "links"), [(3, "mpi"), (2, "tcp")])
def test_inside_a_host(ranks: int, links: str, tmp_path: Path) -> None:
    """Over other links the ring takes its place."""
    variables = {**RULE, "HOROVOD_TIMELINE": str(tmp_path / "t"), "HOROVODX_TRANSPORT": links}
    check(mpirun.run_ranks(ranks, "allreduce.py", **variables), ranks, tmp_path / "t", links)


def test_between_hosts(two: SshHosts, tmp_path: Path) -> None:
    variables = {**RULE, "HOROVOD_TIMELINE": str(tmp_path / "t")}
    program = mpirun.program("allreduce.py")
    done = mpirun.run_on_hosts(two, two.slots(2), 4, program, **variables)
    check(done, 4, tmp_path / "t", "mpi")
