"""Strangers at every port that opens while a job on two hosts starts, above all the probe's."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import outside  # noqa: E402
from launchers import horovodrun_path  # noqa: E402
from support import ssh_hosts  # noqa: E402

_NO_HOSTS = ssh_hosts.why_not()
pytestmark = pytest.mark.skipif(_NO_HOSTS is not None, reason=str(_NO_HOSTS))

_CLONE_NEWNET = 0x40000000
_SILENT = 40
_ATTEMPTS = 20
_URGENT = -20  # ports are open for milliseconds, and other programs run, too
_NONCE, _PROOF = 16, 32  # of the probe's
_RANK = (
    "from horovod.common.basics import HorovodBasics; b = HorovodBasics(None); b.init(); "
    "print('size', b.size()); b.shutdown()"
)
Knock = Callable[[outside.Address], list[socket.socket]]


def silence(door: outside.Address) -> list[socket.socket]:
    return [socket.create_connection(door, 5) for _ in range(_SILENT)]


def garbage(door: outside.Address) -> list[socket.socket]:
    return outside.garbage([door])


def wrong_proof(door: outside.Address) -> list[socket.socket]:
    held = silence(door)
    for sock in held:
        sock.sendall(os.urandom(_NONCE + _PROOF))
    return held


class Intruder(threading.Thread):
    """On the first host; knocks at each port of both as soon as it is there.

    Each visit has a thread of its own, which is on that host, too: some doors say nothing, and
    meanwhile others open and close.
    """

    def __init__(self, hosts: ssh_hosts.SshHosts, knock: Knock) -> None:
        super().__init__(daemon=True)
        self._hosts = hosts
        self._knock = knock
        self._over = threading.Event()
        self._met: set[outside.Address] = set()
        self._held: list[socket.socket] = []
        self.probes: set[outside.Address] = set()

    def run(self) -> None:
        with open(f"/run/netns/{self._hosts.namespace(0)}", "rb") as network:
            if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _URGENT)
        visits = []
        while not self._over.is_set():
            for door in self._open_doors() - self._met:
                self._met.add(door)
                visits.append(threading.Thread(target=self._visit, args=(door,), daemon=True))
                visits[-1].start()
            time.sleep(0.002)
        for visit in visits:
            visit.join()

    def _open_doors(self) -> set[outside.Address]:
        doors = set()
        for host in range(self._hosts.count):
            for port, state, _ in outside.tcp_table(str(self._hosts.sshd(host).pid)):
                if state == outside.LISTEN and port != ssh_hosts.PORT:
                    doors.add((self._hosts.address(host), port))
        return doors

    def _visit(self, door: outside.Address) -> None:
        try:
            first = socket.create_connection(door, 5)
            self._held.append(first)
            self._held += self._knock(door)
            first.settimeout(2)
            greeting = first.recv(_NONCE)
        except OSError:
            return  # it has closed
        if len(greeting) == _NONCE and not greeting.startswith(b"HVDX"):
            self.probes.add(door)

    def end(self) -> None:
        self._over.set()
        self.join()
        for sock in self._held:
            sock.close()


@pytest.fixture(scope="module")
def hosts() -> Iterator[ssh_hosts.SshHosts]:
    with ssh_hosts.SshHosts(2) as made:
        yield made


@pytest.mark.parametrize("knock", [silence, garbage, wrong_proof], ids=lambda knock: knock.__name__)
def test_a_job_starts_whoever_knocks_meanwhile(hosts: ssh_hosts.SshHosts, knock: Knock) -> None:
    words = [horovodrun_path(), "-np", "2", *hosts.ssh_options(), "--disable-cache"]
    words += ["-H", hosts.slots(1), sys.executable, "-c", _RANK]
    for _ in range(_ATTEMPTS):  # the probe's ports may have come and gone before they were seen
        intruder = Intruder(hosts, knock)
        intruder.start()
        try:
            done = hosts.run(0, words)
        finally:
            intruder.end()
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("size 2") == 2
        if intruder.probes:
            return
    pytest.fail(f"no port of the probe was found in time in {_ATTEMPTS} jobs: nothing was tried")
