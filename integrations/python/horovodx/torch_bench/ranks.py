"""Starting the ranks of a benchmark, and the peers they are compared with.

With mpi4py and an mpirun the ranks are started by mpirun, so that MPI, gloo and HorovodX run in the
same processes and take turns.
"""

import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from typing import Any, List, Optional, Tuple

IS_RANK = "HVDX_BENCH_IS_RANK"
_TIME_LIMIT_SECONDS = 1800


def am_rank() -> bool:
    """Whether this process is one of the ranks."""
    return IS_RANK in os.environ


def have_mpi() -> bool:
    """Whether MPI can take part."""
    return shutil.which("mpirun") is not None and importlib.util.find_spec("mpi4py") is not None


def start_ranks(count: int, command: List[str]) -> int:
    """Runs `command` on `count` ranks of this machine; 0 if all ended well."""
    from horovodx import _horovodx as native

    secret, job = secrets.token_hex(32), f"bench-{os.getpid()}"
    port = native.rendezvous_start("127.0.0.1", 0, secret, job)
    environment = dict(
        os.environ,
        HOROVODX_SECRET=secret,
        HOROVODX_JOB_ID=job,
        HOROVOD_GLOO_RENDEZVOUS_ADDR="127.0.0.1",
        HOROVOD_GLOO_RENDEZVOUS_PORT=str(port),
        HOROVOD_SIZE=str(count),
        OMP_NUM_THREADS=os.environ.get("OMP_NUM_THREADS", "1"),
        **{IS_RANK: "1"},
    )
    try:
        if have_mpi():
            return subprocess.run(_mpirun(count) + command, env=environment).returncode
        return _start_by_hand(count, command, environment)
    finally:
        native.rendezvous_stop()


def _mpirun(count: int) -> List[str]:
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    if count > (os.cpu_count() or 1):
        words += ["--mca", "mpi_yield_when_idle", "1"]
    return [*words, "-np", str(count)]


def _start_by_hand(count: int, command: List[str], environment: Any) -> int:
    processes = [
        subprocess.Popen(command, env=dict(environment, HOROVOD_RANK=str(rank)))
        for rank in range(count)
    ]
    deadline = time.monotonic() + _TIME_LIMIT_SECONDS
    try:
        codes = [p.wait(max(0.1, deadline - time.monotonic())) for p in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
    return next((code for code in codes if code), 0)


def init() -> Any:
    """hvd.init() as the rank that mpirun or we said; returns horovod.torch."""
    for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        if name in os.environ and "HOROVOD_SIZE" in os.environ:  # by start_ranks()
            os.environ["HOROVOD_RANK"] = os.environ[name]
    import horovod.torch as hvd

    hvd.init()
    return hvd


def init_gloo(hvd: Any) -> Any:
    """torch.distributed over gloo among the same ranks: on loopback, or between the job's hosts."""
    import torch.distributed as dist

    interface = "lo" if hvd.cross_size() == 1 else os.environ.get("HOROVOD_GLOO_IFACE", "lo")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
    store: Optional[Any] = None
    where: Optional[Tuple[str, int]] = None
    if hvd.rank() == 0:
        address = _address_of(interface)
        store = dist.TCPStore(address, 0, hvd.size(), True, wait_for_workers=False)
        where = (address, store.port)
    where = hvd.broadcast_object(where, 0, "gloo_store")
    if store is None and where is not None:
        store = dist.TCPStore(where[0], where[1], hvd.size(), False)
    dist.init_process_group("gloo", store=store, rank=hvd.rank(), world_size=hvd.size())
    return dist


def _address_of(interface: str) -> str:
    import psutil

    for address in psutil.net_if_addrs().get(interface, []):
        if address.family == socket.AF_INET:
            return str(address.address)
    raise RuntimeError(f"the network interface {interface} has no IPv4 address")


def init_mpi() -> Optional[Any]:
    """mpi4py's world, or None if the ranks were not started by mpirun."""
    if "OMPI_COMM_WORLD_RANK" not in os.environ or not have_mpi():
        return None
    from mpi4py import MPI

    return MPI


def say(hvd: Any, *words: Any) -> None:
    """Prints on rank 0."""
    if hvd.rank() == 0:
        print(*words, flush=True)
        sys.stdout.flush()
