"""What a drill looks for afterwards is found if it is there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import leftovers  # noqa: E402
from support import ssh_hosts  # noqa: E402

_NO_HOSTS = ssh_hosts.why_not()
# Opens a socket and leaves it to a process without the mark, as a job's child that outlives it.
_HEIR = """
import os, socket, subprocess, sys
sock = socket.{what}
keep = "import sys; print('kept', flush=True); sys.stdin.read()"
subprocess.Popen([sys.executable, "-c", keep], env={{}}, pass_fds=[sock.fileno()])
os.read(0, 1)
"""


@pytest.mark.parametrize("what", ["create_server(('127.0.0.1', 0))", "socketpair()[0]"])
def test_a_socket_that_outlives_the_job_is_found(what: str) -> None:
    mark = f"DRILL_MARK=heir{os.getpid()}"
    name, value = mark.split("=")
    watch = leftovers.SocketWatch(mark)
    with subprocess.Popen(
        [sys.executable, "-c", _HEIR.format(what=what)],
        env={**os.environ, name: value},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == b"kept\n"
        assert leftovers.processes_with(mark) == [process.pid]
        watch.look()
        process.kill()
        process.wait()
        assert leftovers.processes_with(mark) == []
        assert len(watch.left()) == 1
        process.stdin.close()
        assert process.stdout.read() == b""  # the heir has gone
    assert watch.count and watch.left() == []


# mpirun as it hangs: its child has ended, nobody waits for it.
_HUNG = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(flush=True)
input()
child.stdin.close()
print(flush=True)
input()
"""


def test_a_launcher_that_outlives_its_ranks_is_known_by_being_alone() -> None:
    mark = f"DRILL_MARK=last{os.getpid()}"
    name, value = mark.split("=")
    with subprocess.Popen(
        [sys.executable, "-c", _HUNG],
        env={**os.environ, name: value},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout
        early = leftovers.LastOne("DRILL_MARK=nobody has it", process.pid)
        last = leftovers.LastOne(mark, process.pid)
        process.stdout.readline()
        deadline = time.monotonic() + 20
        while len(leftovers.processes_with(mark)) != 2:
            assert time.monotonic() < deadline
        assert last.seconds() == 0.0
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        while last.seconds() == 0.0:
            assert time.monotonic() < deadline
        assert early.seconds() == 0.0  # nobody has come yet
        process.kill()


@pytest.mark.skipif(_NO_HOSTS is not None, reason=str(_NO_HOSTS))
def test_a_socket_on_a_host_is_found() -> None:
    program = (
        "import socket, sys; s = socket.create_server(('', 0)); print(flush=True); sys.stdin.read()"
    )
    with ssh_hosts.SshHosts(2) as hosts:
        assert leftovers.sockets_on(hosts) == []
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with hosts.popen(1, [sys.executable, "-c", program], **pipes) as process:
            assert process.stdout and process.stdin
            process.stdout.readline()
            (left,) = leftovers.sockets_on(hosts)
            assert left.startswith("on host 1: port ")
            process.stdin.close()
        assert leftovers.sockets_on(hosts) == []


def test_a_segment_that_keeps_its_name_is_found() -> None:
    path = Path(f"/dev/shm/hvdx-{os.getpid()}-left")
    path.touch()
    try:
        assert leftovers.in_shared_memory([1, os.getpid()]) == [path.name]
    finally:
        path.unlink()
    assert leftovers.in_shared_memory([1, os.getpid()]) == []
