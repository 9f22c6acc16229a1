"""Hosts that have other things than the one where horovodrun runs: uneven slots, no such command,
no such directory, no such interface."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

import pytest
from conftest import horovodrun_path
from support import ssh_hosts
from support.other_machine import make_different, without_folder
from support.ssh_hosts import INTERFACE, SshHosts

REASON = ssh_hosts.why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

HERE, THERE = range(2)  # the hosts
LIMIT = 45  # for a launch to end, on a busy machine


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    with SshHosts(2) as two:
        yield two


@pytest.fixture(autouse=True)
def nothing_is_left(hosts: SshHosts) -> Iterator[None]:
    yield
    for host in range(hosts.count):
        hosts.wait_until_empty(host)


def test_a_command_that_the_other_host_lacks(hosts: SshHosts) -> None:
    """Nor does it have the directory in which the job was started."""
    folder = Path(hosts.folder) / "only-here"
    folder.mkdir()
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\nexec sleep 1000\n")
    tool.chmod(0o755)
    (folder / "work").mkdir()
    make_different(hosts, THERE, [without_folder(str(folder))])
    words = [horovodrun_path(), "-np", "2", *hosts.ssh_options()]
    words += ["-H", f"{hosts.address(HERE)}:1,{hosts.address(THERE)}:1", str(tool)]
    try:
        inside = ["sh", "-c", f'cd {folder}/work && exec "$@"', "sh", *words]
        done = hosts.run(HERE, inside, timeout=LIMIT)
    finally:
        hosts.sshd(THERE).restart()
    assert done.returncode == 1
    address = hosts.address(THERE)
    assert "Process name: 1\nExit code: 127\n" in done.stderr
    assert f"on host {address} exited with code 127: a command was not found there" in done.stderr
    assert "install it on that host, or give a path that every host has" in done.stderr
    assert f"[1]<stderr>:horovodrun: cannot run '{tool}' on host" in done.stderr
    assert f"[1]<stderr>:horovodrun: cannot enter directory '{folder}/work'" in done.stderr


def test_an_interface_that_a_host_lacks(hosts: SshHosts) -> None:
    given = "eth7,ib9"
    hosts.add_interface(HERE, "eth7", "172.31.254.1")
    try:
        slots = f"{hosts.address(HERE)}:1,{hosts.address(THERE)}:1"
        words = [horovodrun_path(), "-np", "2", *hosts.ssh_options(), "-H", slots]
        done = hosts.run(HERE, [*words, "--network-interfaces", given, "true"], timeout=LIMIT)
        more = [*words, "--network-interfaces", f"{given},{INTERFACE}"]
        other = hosts.run(HERE, [*more, "sh", "-c", "echo $HOROVOD_GLOO_IFACE"], timeout=LIMIT)
    finally:
        hosts.remove_interface(HERE, "eth7")
    assert done.returncode == 1
    assert f"--network-interfaces ({given.replace(',', ', ')}) has an IPv4 address" in done.stderr
    assert re.search(rf"{hosts.address(THERE)} has lo .*{INTERFACE}", done.stderr)
    # Workers meet on the first that all have.
    assert sorted(other.stdout.splitlines()) == [
        f"[{rank}]<stdout>:{INTERFACE}" for rank in range(2)
    ], other.stderr


def test_a_hostfile_with_uneven_hosts(hosts: SshHosts) -> None:
    path = Path(hosts.folder) / "hostfile"
    path.write_text(
        f"# the cluster\n{hosts.address(HERE)} slots=1\n\n{hosts.address(THERE)} slots=2\n"
    )
    words = [horovodrun_path(), "-np", "3", *hosts.ssh_options(), "--hostfile", str(path)]
    show = "echo $HOROVOD_HOSTNAME $HOROVOD_LOCAL_RANK/$HOROVOD_LOCAL_SIZE"
    done = hosts.run(HERE, [*words, "sh", "-c", show], timeout=LIMIT)
    assert sorted(done.stdout.splitlines()) == [
        f"[0]<stdout>:{hosts.address(HERE)} 0/1",
        f"[1]<stdout>:{hosts.address(THERE)} 0/2",
        f"[2]<stdout>:{hosts.address(THERE)} 1/2",
    ], done.stderr
