"""Hosts that cannot be used: horovodrun says which, why, and what helps; it never waits for ever.

All kinds of faulty hosts stand in one job, so most tests look at what a single launch has said.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator

import pytest
from conftest import horovodrun_path
from support import ssh_hosts
from support.other_machine import make_different, without_program
from support.ssh_hosts import PORT, SshHosts

REASON = ssh_hosts.why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

HERE, DOWN, CHANGED, UNKNOWN, SUSPENDED, BARE = range(6)  # the hosts
NO_NAME = "no-such-host.invalid"
NOBODY = "10.213.77.99"
START = 8  # seconds
LIMIT = 45  # for a launch to end, on a busy machine


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    with SshHosts(6) as six:
        _know_keys(six)
        yield six


@pytest.fixture(autouse=True)
def nothing_is_left(hosts: SshHosts) -> Iterator[None]:
    yield
    for host in range(hosts.count):
        hosts.wait_until_empty(host)


def _know_keys(hosts: SshHosts) -> None:
    """A known_hosts with all keys but one, one of them wrong."""
    folder = Path(hosts.folder)
    right, wrong = ((folder / f"{name}.pub").read_text() for name in ("host_key", "wrong_key"))
    with open(folder / "known_hosts", "w", encoding="utf-8") as file:
        for host in range(hosts.count):
            if host != UNKNOWN:
                key = wrong if host == CHANGED else right
                file.write(f"[{hosts.address(host)}]:{PORT} {key}")


def ssh_that(hosts: SshHosts, checking: str) -> dict[str, str]:
    """An environment whose ssh knows those keys; options given first win over horovodrun's."""
    folder = Path(hosts.folder) / f"bin-{checking or 'default'}"
    folder.mkdir(exist_ok=True)
    options = f"-o UserKnownHostsFile={hosts.folder}/known_hosts"
    if checking:
        options += f" -o StrictHostKeyChecking={checking}"
    (folder / "ssh").write_text(f'#!/bin/sh\nexec {hosts.folder}/bin/ssh {options} "$@"\n')
    (folder / "ssh").chmod(0o755)
    return {"PATH": f"{folder}:{hosts.env()['PATH']}"}


class Told:
    """What a launch has said, and how it ended."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code = done.returncode
        self.out = done.stdout
        self.errors = done.stderr

    def about(self, host: str) -> str:
        """All of what belongs to one host."""
        head = f"ssh not successful for host {host}:\n"
        assert head in self.errors, self.errors
        return re.split("ssh not successful|horovodrun: ", self.errors.partition(head)[2])[0]


@pytest.fixture(scope="module")
def told(hosts: SshHosts) -> Told:
    """The launch with all of them, under strict checking of host keys."""
    bare = Path(hosts.folder) / "bare"
    bare.mkdir()
    (bare / "sh").symlink_to("/bin/sh")
    words = ["/usr/bin/env", "-i", f"PATH={bare}"]
    make_different(hosts, BARE, [without_program(sys.executable)], words)
    hosts.sshd(DOWN).stop()
    hosts.sshd(SUSPENDED).suspend()
    names = [NO_NAME, NOBODY, *map(hosts.address, range(hosts.count))]
    slots = ",".join(f"{name}:1" for name in names)
    try:
        done = hosts.run(
            HERE,
            [horovodrun_path(), "-np", str(len(names)), *hosts.ssh_options(), "-H", slots,
             "--start-timeout", str(START), "echo", "started"],
            timeout=LIMIT,
            env=ssh_that(hosts, "yes"),
        )  # fmt: skip
    finally:
        hosts.sshd(SUSPENDED).resume()
        hosts.sshd(DOWN).start()
        hosts.sshd(BARE).restart()
    return Told(done)


def test_the_job_does_not_start(told: Told, hosts: SshHosts) -> None:
    assert told.code == 1
    assert told.out == ""
    assert "Traceback" not in told.errors
    assert f"ssh not successful for host {hosts.address(HERE)}" not in told.errors


def test_a_name_that_nobody_knows(told: Told) -> None:
    text = told.about(NO_NAME)
    assert f"Could not resolve hostname {NO_NAME}" in text
    # Which of the two depends on whether this machine has a name service.
    assert re.search("What helps: (this machine knows no such name|the name service)", text), text


def test_an_address_that_nobody_has(told: Told) -> None:
    text = told.about(NOBODY)
    assert f"connect to host {NOBODY} port {PORT}: No route to host" in text
    assert "What helps: nobody answers at this address: is the host switched on" in text


def test_an_sshd_that_is_down(told: Told, hosts: SshHosts) -> None:
    text = told.about(hosts.address(DOWN))
    assert "Connection refused" in text
    assert f"What helps: nothing listens on port {PORT} there: start sshd on it" in text
    by_hand = f"Try it by hand: ssh -p {PORT} -i {hosts.key} {hosts.address(DOWN)} true\n"
    assert by_hand in text
    command = by_hand.strip().partition(": ")[2].split()
    # By now it is up again.
    assert hosts.run(HERE, command, env=ssh_that(hosts, "yes")).returncode == 0


def test_a_host_key_that_has_changed(told: Told, hosts: SshHosts) -> None:
    text = told.about(hosts.address(CHANGED))
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in text
    assert f"forget the old key with ssh-keygen -R '[{hosts.address(CHANGED)}]:{PORT}'" in text


def test_a_host_key_that_is_unknown(told: Told, hosts: SshHosts) -> None:
    address = hosts.address(UNKNOWN)
    text = told.about(address)
    assert "Host key verification failed" in text
    assert "What helps: its host key is not in known_hosts" in text
    assert f"ssh-keyscan -p {PORT} {address} >> ~/.ssh/known_hosts" in text


def test_an_sshd_that_says_nothing(told: Told, hosts: SshHosts) -> None:
    address = hosts.address(SUSPENDED)
    (line,) = (line for line in told.errors.splitlines() if "Timed out waiting" in line)
    assert re.search(rf"an answer from [^(]*{re.escape(address)} \(by hand: ssh -p", line), line
    assert f"Timeout after {START} seconds" in line
    assert "--start-timeout" in line


def test_a_host_without_python(told: Told, hosts: SshHosts) -> None:
    text = told.about(hosts.address(BARE))
    assert f"needs Python on this host: neither {sys.executable}" in text
    assert "What helps: install python3 on it" in text
    assert f" {hosts.address(BARE)} command -v python3\n" in text


def test_what_failed_for_good_is_one_line(hosts: SshHosts) -> None:
    """Without anybody who is silent the job ends before its time, and its last line says it all."""
    hosts.sshd(DOWN).stop()
    try:
        slots = f"{hosts.address(DOWN)}:1,{hosts.address(UNKNOWN)}:1"
        done = hosts.run(
            HERE,
            [horovodrun_path(), "-np", "2", *hosts.ssh_options(), "-H", slots, "true"],
            timeout=LIMIT,
            env=ssh_that(hosts, "yes"),
        )
    finally:
        hosts.sshd(DOWN).start()
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("horovodrun: RuntimeError: could not connect to some hosts via ssh: ")
    assert re.search(rf"{hosts.address(DOWN)}: .*Connection refused", last)
    assert f"{hosts.address(UNKNOWN)}: Host key verification failed." in last


def test_nobody_is_asked_about_a_host_key(hosts: SshHosts) -> None:
    """ssh would ask the terminal; the terminal is there, and nobody sits at it."""
    words = [horovodrun_path(), "-np", "1", *hosts.ssh_options()]
    words += ["-H", f"{hosts.address(UNKNOWN)}:1", "true"]
    env = {**hosts.env(), **ssh_that(hosts, "ask")}
    pid, terminal = pty.fork()
    if pid == 0:
        inside = hosts.inside(HERE, words)
        os.execvpe(inside[0], inside, env)
    os.set_blocking(terminal, False)
    said, status = b"", None
    deadline = time.monotonic() + LIMIT
    while status is None and time.monotonic() < deadline:
        said += _read(terminal)
        done, wait_status = os.waitpid(pid, os.WNOHANG)
        status = wait_status if done else None
        time.sleep(0.02)
    said += _read(terminal)
    os.close(terminal)  # who still waited at it is ended by that
    assert status is not None, f"still waits: {said.decode()}"
    assert os.waitstatus_to_exitcode(status) == 1
    assert b"continue connecting" not in said
    assert b"What helps: its host key is not in known_hosts" in said


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nothing there, or its other side is closed
        return b""


def test_a_changed_key_is_told_where_it_does_not_matter(hosts: SshHosts) -> None:
    """By default horovodrun does not let ssh check keys, as Horovod; but it does not hide it."""
    words = [horovodrun_path(), "-np", "1", *hosts.ssh_options()]
    words += ["-H", f"{hosts.address(CHANGED)}:1", "echo", "fine"]
    done = hosts.run(HERE, words, timeout=LIMIT, env=ssh_that(hosts, ""))
    assert (done.returncode, done.stdout) == (0, "[0]<stdout>:fine\n"), done.stderr
    address = hosts.address(CHANGED)
    assert f"warning: the host key of {address} is not the one in known_hosts" in done.stderr


def test_a_name_service_that_does_not_answer(hosts: SshHosts) -> None:
    """Names are asked for all at once, and the limit of the start counts for that, too."""
    port_53 = "import socket, time; s = socket.socket(type=socket.SOCK_DGRAM); "
    port_53 += f"s.bind(('{hosts.address(DOWN)}', 53)); print('deaf', flush=True); time.sleep(1000)"
    deaf = hosts.popen(DOWN, [sys.executable, "-c", port_53], stdout=subprocess.PIPE)
    resolv = Path(hosts.folder) / "resolv.conf"
    resolv.write_text(f"nameserver {hosts.address(DOWN)}\noptions timeout:5 attempts:2\n")
    slots = ",".join(f"node{n}.invalid:1" for n in range(12))
    words = [horovodrun_path(), "-np", "12", "-H", slots, "--start-timeout", "2", "true"]
    asks_there = f'mount --bind {resolv} /etc/resolv.conf; exec "$@"'
    inside = ["unshare", "--mount", "sh", "-c", asks_there]
    try:
        assert deaf.stdout is not None and deaf.stdout.readline() == "deaf\n"
        done = hosts.run(HERE, [*inside, "sh", *words], timeout=LIMIT)
    finally:
        deaf.kill()
        deaf.communicate()
    assert done.returncode == 1
    assert "Timed out waiting for an answer from node0.invalid, node1.invalid" in done.stderr
