"""Jobs on several hosts, over a real ssh: network namespaces stand in for machines."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator

import pytest
from conftest import PROGRAMS, SECONDS, horovodrun_path
from support import ssh_hosts
from support.ssh_hosts import INTERFACE, SshHosts

REASON = ssh_hosts.why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.fixture(scope="module")
def two() -> Iterator[SshHosts]:
    with SshHosts(2) as hosts:
        yield hosts


@pytest.fixture(autouse=True)
def nothing_is_left(two: SshHosts) -> Iterator[None]:
    """After each test the hosts are empty again."""
    cache = Path(two.folder) / ".horovod" / "cache.bin"
    cache.unlink(missing_ok=True)
    yield
    for host in range(two.count):
        two.wait_until_empty(host)


def launch(two: SshHosts, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
    """horovodrun on host 0."""
    return two.run(0, [horovodrun_path(), *words], **more)  # type: ignore[arg-type]


def start(two: SshHosts, *words: str) -> subprocess.Popen[str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return two.popen(0, [horovodrun_path(), *words], **pipes)


@pytest.mark.parametrize("each", [1, 2])
def test_ranks_on_two_hosts_add_up(two: SshHosts, each: int) -> None:
    size = 2 * each
    program = [sys.executable, str(PROGRAMS / "allreduce.py")]
    done = launch(two, "-np", str(size), *two.ssh_options(), "-H", two.slots(each), *program)
    assert done.returncode == 0, done.stderr
    total = size * (size + 1) // 2
    assert sorted(done.stdout.splitlines()) == [
        f"[{r}]<stdout>:rank {r} of {size} local {r % each}/{each} cross {r // each}/2 sum {total}"
        for r in range(size)
    ]


def test_what_a_remote_worker_sees(two: SshHosts, tmp_path: Path) -> None:
    show = "import os, json; print(json.dumps(dict(os.environ)), os.getcwd())"
    env = {"PASSED_ON": "a b'\"$x\n", "CUDA_VISIBLE_DEVICES": "3", "BASH_FUNC_f%%": "() { :; }"}
    inside = f"import os; os.chdir({str(tmp_path)!r}); os.execvp('{horovodrun_path()}', {{}})"
    remote = two.address(1)
    words = ["horovodrun", "-np", "1", *two.ssh_options(), "-H", f"{remote}:1"]
    command = [sys.executable, "-c", inside.format([*words, sys.executable, "-c", show])]
    done = two.run(0, command, env=env)
    assert done.returncode == 0, done.stderr
    text, _, cwd = done.stdout.strip().removeprefix("[0]<stdout>:").rpartition(" ")
    import json

    seen = json.loads(text)
    assert cwd == str(tmp_path)
    assert seen["PASSED_ON"] == env["PASSED_ON"]
    assert "CUDA_VISIBLE_DEVICES" not in seen and "BASH_FUNC_f%%" not in seen
    assert seen["HOROVOD_HOSTNAME"] == remote
    assert seen["HOROVOD_GLOO_RENDEZVOUS_ADDR"] == two.address(0)
    assert seen["HOROVOD_GLOO_IFACE"] == seen["NCCL_SOCKET_IFNAME"] == INTERFACE
    assert "SSH_CONNECTION" in seen


def test_networks_are_probed_and_remembered(two: SshHosts) -> None:
    """An interface that both hosts have, but that does not join them, is not chosen."""
    for host in range(2):
        two.add_interface(host, "docker0", "172.31.255.1")
    try:
        words = ["-np", "2", "--verbose", *two.ssh_options(), "-H", two.slots(1)]
        first = launch(two, *words, "sh", "-c", "echo nic $NCCL_SOCKET_IFNAME")
        again = launch(two, *words, "true")
        fresh = launch(two, *words, "--disable-cache", "true")
    finally:
        for host in range(2):
            two.remove_interface(host, "docker0")
    assert first.returncode == 0, first.stderr
    assert f"[1]<stdout>:nic {INTERFACE}" in first.stdout.splitlines()
    for line in (
        "Filtering local host names.",
        f"Remote host found: {two.address(1)}",
        "Checking ssh on all remote hosts.",
        "SSH was successful into all the remote hosts.",
        "Testing interfaces on all the hosts.",
        f"Common interface found: {INTERFACE}",
    ):
        assert line in first.stdout.splitlines()
    assert "Testing interfaces" not in again.stdout and "(cached)" in again.stdout
    assert "Testing interfaces" in fresh.stdout


def test_no_common_network(two: SshHosts) -> None:
    """Host 1 gets a second name for its network: what host 0 calls hvd0 is hvd1 there."""
    name = two.namespace(1)

    def rename(old: str, new: str) -> None:
        subprocess.run(["ip", "-n", name, "link", "set", old, "down"], check=True)
        subprocess.run(["ip", "-n", name, "link", "set", old, "name", new], check=True)
        subprocess.run(["ip", "-n", name, "link", "set", new, "up"], check=True)

    rename(INTERFACE, "other0")
    try:
        done = launch(two, "-np", "2", *two.ssh_options(), "-H", two.slots(1), "true")
    finally:
        rename("other0", INTERFACE)
    assert done.returncode == 1
    fragment = "Unable to find a set of common task-to-task communication interfaces"
    assert fragment in done.stderr
    assert f"{two.address(1)} has lo 127.0.0.1, other0 {two.address(1)}" in done.stderr


def test_given_interfaces_are_trusted(two: SshHosts) -> None:
    words = ["-np", "2", "--verbose", *two.ssh_options(), "-H", two.slots(1)]
    show = ["sh", "-c", "echo $HOROVOD_GLOO_IFACE $NCCL_SOCKET_IFNAME"]
    done = launch(two, *words, "--network-interfaces", f"{INTERFACE},eth7", *show)
    assert done.returncode == 0, done.stderr
    assert "Testing interfaces" not in done.stdout
    assert f"[1]<stdout>:{INTERFACE} {INTERFACE},eth7" in done.stdout.splitlines()


def test_unreachable_host(two: SshHosts) -> None:
    gone = "10.213.77.99"
    hosts = f"{two.address(0)}:1,{gone}:1"
    words = ["-np", "2", *two.ssh_options(), "--start-timeout", "2", "-H", hosts, "true"]
    begin = time.monotonic()
    done = launch(two, *words)
    assert done.returncode == 1
    assert time.monotonic() - begin < 8
    assert f"Timed out waiting for an answer from {gone}" in done.stderr
    assert "Timeout after 2 seconds" in done.stderr


def test_wrong_key(two: SshHosts) -> None:
    words = ["-np", "2", "-p", "2222", "-i", two.wrong_key, "-H", two.slots(1), "true"]
    done = launch(two, *words)
    assert done.returncode == 1
    assert f"ssh not successful for host {two.address(1)}:" in done.stderr
    assert "Permission denied" in done.stderr
    assert "could not connect to some hosts via ssh" in done.stderr


def test_wrong_port(two: SshHosts) -> None:
    words = ["-np", "2", "-p", "2223", "-i", two.key, "-H", two.slots(1), "true"]
    done = launch(two, *words)
    assert done.returncode == 1
    assert f"ssh not successful for host {two.address(1)}:" in done.stderr
    assert "Connection refused" in done.stderr


def test_a_dying_remote_rank_ends_the_job(two: SshHosts) -> None:
    command = "[ $HOROVOD_RANK = 3 ] || exec sleep 1000; echo oops >&2; kill -KILL $$"
    begin = time.monotonic()
    done = launch(two, "-np", "4", *two.ssh_options(), "-H", two.slots(2), "sh", "-c", command)
    assert done.returncode == 1
    assert time.monotonic() - begin < 10
    assert "Process name: 3\nExit code: 137\n" in done.stderr
    assert f"Rank 3 (local rank 1) on host {two.address(1)} was killed by signal 9" in done.stderr
    assert "  [3]<stderr>:oops" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_when_the_launcher_ends_remote_workers_end(two: SshHosts, number: int) -> None:
    family = "(setsid sleep 1000 >/dev/null 2>&1 &); echo ready; sleep 1000"
    job = start(two, "-np", "4", *two.ssh_options(), "-H", two.slots(2), "sh", "-c", family)
    assert job.stdout is not None
    for _ in range(4):
        assert job.stdout.readline().endswith("ready\n")
    assert len(two.processes(1)) >= 7
    job.send_signal(number)
    job.communicate(timeout=SECONDS)
    assert job.returncode == -number
    two.wait_until_empty(1, 6)
    two.wait_until_empty(0, 6)


def test_when_ssh_is_killed_remote_workers_end(two: SshHosts) -> None:
    words = ["-np", "2", *two.ssh_options(), "-H", two.slots(1)]
    job = start(two, *words, "sh", "-c", "echo ready; sleep 1000")
    assert job.stdout is not None
    for _ in range(2):
        job.stdout.readline()
    (client,) = (pid for pid in two.processes(0) if _is_ssh(pid))
    os.kill(client, signal.SIGKILL)
    _, errors = job.communicate(timeout=SECONDS)
    assert job.returncode == 1
    assert f"Rank 1 (local rank 0) on host {two.address(1)} was lost with its host" in errors
    two.wait_until_empty(1)


def _is_ssh(pid: int) -> bool:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().split(bytes(1))[0].endswith(b"/ssh")


def test_the_secret_is_on_no_command_line(two: SshHosts) -> None:
    words = ["-np", "2", "--verbose", *two.ssh_options(), "-H", two.slots(1)]
    show = (
        "import os, time; print(os.environ['HOROVODX_' + 'SECRET'], flush=True); time.sleep(1000)"
    )
    job = start(two, *words, sys.executable, "-c", show)
    assert job.stdout is not None
    said = []
    while sum(line.startswith("[") for line in said) < 2:
        said.append(job.stdout.readline())
    (secret,) = {line.strip().partition("<stdout>:")[2] for line in said if line.startswith("[")}
    assert len(secret) == 64
    assert not any(secret in line for line in said if not line.startswith("["))
    lines = b""
    for pid in two.processes(0) | two.processes(1):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                lines += file.read()
        except OSError:
            continue
    assert b"sleep(1000)" in lines and secret.encode() not in lines
    job.terminate()
    job.communicate(timeout=SECONDS)


def test_a_remote_host_without_our_interpreter(two: SshHosts) -> None:
    """The agent then runs in whatever python3 is there."""
    site = next(p for p in sys.path if p.endswith("site-packages"))
    program = (
        "import os, sys; sys.executable = os.environ['CLAIM']; sys.argv[0] = 'horovodrun'; "
        "from horovod.runner.launch import run_commandline; run_commandline()"
    )
    words = ["-np", "1", *two.ssh_options(), "-H", f"{two.address(1)}:1"]
    words += ["--network-interfaces", INTERFACE, "echo", "fine"]
    env = {"CLAIM": "/no/such/python", "PYTHONPATH": site}
    done = two.run(0, [sys.executable, "-c", program, *words], env=env)
    assert done.stdout == "[0]<stdout>:fine\n", done.stderr


def test_horovod_run_on_two_hosts(two: SshHosts) -> None:
    script = (
        "import horovod, os\n"
        "def f(x): return os.environ['HOROVOD_HOSTNAME'], x * 1000000\n"
        f"r = horovod.run(f, args=('ab',), num_proc=2, hosts={two.slots(1)!r}, ssh_port=2222,\n"
        f"                ssh_identity_file={two.key!r})\n"
        "print([(h, len(x)) for h, x in r])\n"
    )
    done = two.run(0, [sys.executable, "-c", script])
    expected = [(two.address(0), 2000000), (two.address(1), 2000000)]
    assert done.stdout == f"{expected}\n", done.stderr


def test_a_chatty_login_shell_does_no_harm(two: SshHosts) -> None:
    """ssh runs a command that talks before it lets the agent start."""
    path = Path(two.folder) / "bin" / "ssh"
    before = path.read_text()
    path.write_text("#!/bin/sh\necho 'Welcome to host!'; " + before.partition("\n")[2])
    try:
        words = ["-np", "2", *two.ssh_options(), "-H", two.slots(1), "echo", "hi"]
        done = launch(two, *words)
    finally:
        path.write_text(before)
    assert sorted(done.stdout.splitlines()) == ["[0]<stdout>:hi", "[1]<stdout>:hi"], done.stderr
