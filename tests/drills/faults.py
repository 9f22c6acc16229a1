"""What a rank does to itself. What happens to it from outside is in outside.py."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Callable

from outside import listening_ports

GIL_SECONDS = 20.0
MESSAGE = "something of my own went wrong"


def kill() -> None:
    """As the kernel does when memory has run out."""
    os.kill(os.getpid(), signal.SIGKILL)


def stop() -> None:
    """As a debugger does, or a machine that swaps."""
    os.kill(os.getpid(), signal.SIGSTOP)


def segfault() -> None:
    """A bug in somebody's native code."""
    ctypes.string_at(0)


def exception() -> None:
    """A bug in the user's script."""
    raise RuntimeError(MESSAGE)


def leave() -> None:
    """A script that thinks it is done."""
    sys.exit(0)


def hold_gil() -> None:
    """Native code that does not let go of the interpreter."""
    seconds = float(os.environ.get("DRILL_GIL_SECONDS", GIL_SECONDS))
    ctypes.PyDLL(None).usleep(int(1e6 * seconds))


def _doors_of_ranks() -> set[int]:
    """The ports at which the ranks of this drill listen, as they told."""
    ports = {port for port, _ in listening_ports()}
    for file in Path(os.environ["DRILL_FOLDER"]).glob("ready.*"):
        ports |= {port for port, _ in json.loads(file.read_text())["ports"]}
    return ports


def connections() -> list[socket.socket]:
    """Copies of this process's TCP connections with other ranks; before there are any, with the
    rendezvous. None of MPI's own, which are with mpirun."""
    among_ranks: list[socket.socket] = []
    others: list[socket.socket] = []
    store = int(os.environ.get("HOROVOD_GLOO_RENDEZVOUS_PORT", "0"))
    ours = set() if store else _doors_of_ranks()
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            copy = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        try:
            ends = {copy.getpeername()[1], copy.getsockname()[1]}
            if ours and not ends & ours:
                copy.close()
            else:
                (others if store in ends else among_ranks).append(copy)
        except (OSError, IndexError):
            copy.close()  # it listens, or is none of TCP's
    return among_ranks or others


def close_socket() -> None:
    """A connection breaks, as when a firewall forgets it: that for control messages, the oldest; or
    those for data, all of them, since not every one is used again. With MPI, which carries the data
    and where rank 0 serves the rendezvous, all there are."""
    found = connections()
    by_mpi = "OMPI_COMM_WORLD_RANK" in os.environ
    broken = found if by_mpi else found[1:] if random.random() < 0.5 else []
    for copy in broken or found[:1]:
        with contextlib.suppress(OSError):  # the other end was quicker
            copy.shutdown(socket.SHUT_RDWR)
    for copy in found:
        copy.close()


def truncate() -> None:
    """Somebody cuts off the memory that the ranks share: the seals must not allow it."""
    tried = 0
    with open("/proc/self/maps", encoding="utf-8") as file:
        segments = [line.split()[0] for line in file if "/memfd:horovodx" in line]
    for addresses in segments:
        with open(f"/proc/self/map_files/{addresses}", "r+b") as segment:
            try:
                os.ftruncate(segment.fileno(), 0)
            except PermissionError:
                tried += 1
    if tried != len(segments) or not segments:
        raise RuntimeError(f"{tried} of {len(segments)} segments refused to be cut off")


def no_shared_memory() -> None:
    """Neither /dev/shm nor unnamed memory takes anything: files end at 4 KiB."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def wrong_secret() -> None:
    """A rank of another job, or a variable set by hand."""
    os.environ["HOROVODX_SECRET"] = "ab" * 32


ON_ITSELF: dict[str, Callable[[], None]] = {
    "SIGKILL": kill,
    "SIGSTOP": stop,
    "segfault": segfault,
    "exception": exception,
    "sys.exit(0)": leave,
    "GIL held": hold_gil,
    "socket closed": close_socket,
    "no shared memory": no_shared_memory,
    "segment truncated": truncate,
    "wrong secret": wrong_secret,
}
# These can only happen where the script is, not in another thread of it.
IN_SCRIPT = ("exception", "sys.exit(0)")
# The victim submits something else than the others.
IN_SUBMISSION = ("other shape", "other type", "other order", "other name", "never submits")
