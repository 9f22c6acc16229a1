"""Links by MPI: inside a host where they are asked for, between hosts by themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import mpirun
import pytest
from support.ssh_hosts import INTERFACE, SshHosts

PATIENT = {"HOROVODX_HEARTBEAT_SECONDS": "60"}


def test_inside_a_host() -> None:
    ranks = 3
    code, output = mpirun.run_ranks(ranks, "hosts.py", HOROVODX_TRANSPORT="mpi", **PATIENT)
    assert code == 0 and output.count(f"of {ranks}") == ranks and output.count("0/1 mpi") == ranks
    assert all(f"rank {rank} shares memory with [{rank}]" in output for rank in range(ranks))


def test_they_need_threads() -> None:
    settings = {"HOROVODX_TRANSPORT": "mpi", "HOROVOD_MPI_THREADS_DISABLE": "1"}
    code, output = mpirun.run_ranks(2, "init_only.py", "world", **settings)
    assert code == 3 and "without MPI_THREAD_MULTIPLE" in output


def test_a_rank_that_dies_is_named() -> None:
    """mpirun would end the job at once; told not to, the others hear who it was."""
    words = [*mpirun.mpirun(3, "--enable-recovery"), *mpirun.program("one_dies.py", "300000")]
    code, output = mpirun.run(words, HOROVODX_TRANSPORT="mpi", **PATIENT)
    assert code is not None  # what it is, is mpirun's business
    for rank in (0, 2):
        assert f"rank {rank} heard: Horovod has been shut down: rank 1 (" in output


def check(done: mpirun.Outcome, places: list[str], timeline: Path, links: str) -> None:
    """Everybody is where it belongs and has the right results. What is worth a try depends on what
    the others took: MPI's own allreduce may be, and never without its links (that it can be chosen
    is select_test.cc's and test_allreduce.py's business)."""
    assert done.code == 0
    for rank, place in enumerate(places):
        assert f"rank {rank} of {len(places)} {place} {links}" in done.output
    ran = mpirun.algorithms(timeline)
    tried = set().union(*(ran[name] for name in ran if name.startswith("chosen")))
    assert tried and ("mpi" not in tried or links == "mpi"), tried


class Placed(NamedTuple):
    """What mpirun is told, and where that puts the ranks."""

    slots: list[int]
    options: list[str]
    places: list[str]  # local rank/size, cross rank/size
    hosts: list[list[int]]  # the ranks on each


PLACED = {
    "one a host": Placed([1, 1], [], ["0/1 0/2", "0/1 1/2"], [[0], [1]]),
    "in a row": Placed(
        [2, 2], [], ["0/2 0/2", "1/2 0/2", "0/2 1/2", "1/2 1/2"], [[0, 1], [2, 3]]
    ),
    "in turns": Placed(
        [2, 2], ["--map-by", "node"], ["0/2 0/2", "0/2 1/2", "1/2 0/2", "1/2 1/2"],
        [[0, 2], [1, 3]],
    ),
    "uneven": Placed(
        [3, 1], [], ["0/3 0/2", "1/3 0/1", "2/3 0/1", "0/1 1/2"], [[0, 1, 2], [3]]
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("how", "links"),
    [("one a host", "mpi"), ("in a row", "tcp"), ("in turns", "mpi"), ("uneven", "mpi")],
)
def test_between_hosts(two: SshHosts, how: str, links: str, tmp_path: Path) -> None:
    placed = PLACED[how]
    slots = ",".join(f"{two.address(host)}:{count}" for host, count in enumerate(placed.slots))
    variables = {
        "HOROVOD_CPU_OPERATIONS": {"mpi": "mpi", "tcp": "gloo"}[links],
        "HOROVOD_TIMELINE": str(tmp_path / "timeline"),
    }
    program = mpirun.program("hosts.py")
    ranks = len(placed.places)
    done = mpirun.run_on_hosts(two, slots, ranks, program, *placed.options, **variables)
    check(done, placed.places, tmp_path / "timeline", links)
    for members in placed.hosts:
        for rank in members:
            assert f"rank {rank} shares memory with {members}" in done.output


def test_horovodrun_by_mpi_between_hosts(two: SshHosts) -> None:
    horovodrun = [sys.executable, "-m", "horovod.runner.launch", "--mpi", "-np", "2"]
    ssh = f"{two.folder}/bin/ssh -o StrictHostKeyChecking=no"
    agent = f'--mca plm_rsh_agent "{ssh}" --mca oob_tcp_if_include {INTERFACE}'
    words = [
        *horovodrun, *two.ssh_options(), "-H", two.slots(1), "--network-interfaces", INTERFACE,
        f"--mpi-args={agent}", *mpirun.program("hosts.py"),
    ]  # fmt: skip
    done = two.run(0, words, timeout=mpirun.SECONDS, env=PATIENT)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    assert "rank 0 of 2 0/1 0/2 mpi" in done.stdout and "rank 1 of 2 0/1 1/2 mpi" in done.stdout
