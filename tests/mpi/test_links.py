"""Links by MPI: inside a host where they are asked for, between hosts by themselves."""

from __future__ import annotations

import subprocess
import sys
from typing import Iterator

import mpirun
import pytest
from support import ssh_hosts
from support.ssh_hosts import INTERFACE, PORT, SshHosts

REASON = ssh_hosts.why_not()
PATIENT = {"HOROVODX_HEARTBEAT_SECONDS": "60"}


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_inside_a_host(ranks: int) -> None:
    code, output = mpirun.run_ranks(ranks, "hosts.py", HOROVODX_TRANSPORT="mpi", **PATIENT)
    assert code == 0 and output.count(f"of {ranks}") == ranks and output.count("0/1 mpi") == ranks


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


@pytest.fixture(scope="module")
def two() -> Iterator[SshHosts]:
    if REASON is not None:
        pytest.skip(REASON)
    with SshHosts(2) as hosts:
        yield hosts


def on_hosts(
    two: SshHosts, each: int, program: list[str], **variables: str
) -> subprocess.CompletedProcess[str]:
    """By mpirun on host 0."""
    settings = {
        "plm_rsh_agent": f"{two.folder}/bin/ssh",
        "plm_rsh_args": f"-p {PORT} -i {two.key} -o StrictHostKeyChecking=no",
        "btl_tcp_if_include": INTERFACE,
        "oob_tcp_if_include": INTERFACE,
    }
    options = [word for name, value in settings.items() for word in ("--mca", name, value)]
    variables = {**PATIENT, "OMP_NUM_THREADS": "1", **variables}
    options += [word for name in variables for word in ("-x", name)]
    words = [*mpirun.mpirun(2 * each, *options, "-H", two.slots(each)), *program]
    # Open MPI itself breaks where two hosts have one name, as these have.
    renamed = ["unshare", "--uts", "sh", "-c", 'hostname hvdx-zero && exec "$@"', "renamed", *words]
    done = two.run(0, renamed, timeout=mpirun.SECONDS, env=variables)
    print(done.stdout, done.stderr)
    return done


@pytest.mark.parametrize(("each", "links"), [(1, "mpi"), (2, "mpi"), (2, "tcp")])
def test_between_hosts(two: SshHosts, each: int, links: str) -> None:
    operations = {"mpi": "mpi", "tcp": "gloo"}[links]
    done = on_hosts(two, each, mpirun.program("hosts.py"), HOROVOD_CPU_OPERATIONS=operations)
    assert done.returncode == 0
    for rank in range(2 * each):
        place = f"{rank % each}/{each} {rank // each}/2"
        assert f"rank {rank} of {2 * each} {place} {links}" in done.stdout


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
