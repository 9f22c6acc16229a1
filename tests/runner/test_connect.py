"""Reaching other hosts, with an `ssh` in PATH that does what the test wants."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
from conftest import SECONDS, Run, clean_env

from horovod.runner import launch
from horovod.runner.driver.advice import advice
from horovod.runner.util import network, remote

HOST = "203.0.113.7"  # an address for documentation: nobody's
# Runs its last argument here, as ssh would elsewhere.
RUNS = 'for last; do :; done; exec /bin/sh -c "$last"'
# The same in an environment where nothing is found but sh.
RUNS_BARE = 'for last; do :; done; exec /usr/bin/env -i PATH={path} /bin/sh -c "$last"'

FakeSsh = Callable[[str], "dict[str, str]"]


@pytest.fixture
def fake_ssh(tmp_path: Path) -> FakeSsh:
    def write(body: str) -> dict[str, str]:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "ssh").write_text("#!/bin/sh\n" + body + "\n")
        (folder / "ssh").chmod(0o755)
        return {"PATH": f"{folder}:{clean_env()['PATH']}"}

    return write


def hosts(slots: int = 1) -> list[str]:
    return ["-H", f"{HOST}:{slots}", "--network-interfaces", "lo"]


def test_ssh_is_called_once_for_a_host(run: Run, fake_ssh: FakeSsh, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    env = fake_ssh(f'echo "$@" >> {calls}; {RUNS}')
    done = run("-np", "3", "-p", "77", "-i", "my key", *hosts(3), "echo", "hi", env=env)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"[{r}]<stdout>:hi" for r in range(3)]
    (call,) = calls.read_text().splitlines()
    assert "-o PasswordAuthentication=no -o StrictHostKeyChecking=no" in call
    assert f"{HOST} -p 77 -i my key -o ConnectTimeout=10 sh -c" in call


def test_the_start_has_a_time_limit(run: Run, fake_ssh: FakeSsh, mark: str) -> None:
    name, value = mark.split("=")
    begin = time.monotonic()
    env = {**fake_ssh("exec sleep 1000"), name: value, "HOROVOD_START_TIMEOUT": "1"}
    done = run("-np", "1", *hosts(), "true", env=env)
    assert done.returncode == 1
    assert time.monotonic() - begin < 5
    assert f"Timed out waiting for an answer from {HOST}" in done.stderr
    assert "Timeout after 1 seconds" in done.stderr


def test_a_refusal_is_tried_five_times(run: Run, fake_ssh: FakeSsh, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    env = fake_ssh(f"echo x >> {calls}; echo 'Connection refused' >&2; exit 255")
    done = run("-np", "1", *hosts(), "true", env=env)
    assert done.returncode == 1
    assert len(calls.read_text().split()) == 5
    assert f"ssh not successful for host {HOST}:\nConnection refused" in done.stderr
    assert f"could not connect to some hosts via ssh: {HOST}: Connection refused" in done.stderr


def test_a_hiccup_is_forgiven(run: Run, fake_ssh: FakeSsh, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    env = fake_ssh(f"[ -e {flag} ] || {{ touch {flag}; exit 255; }}; {RUNS}")
    assert run("-np", "1", *hosts(), "echo", "hi", env=env).stdout == "[0]<stdout>:hi\n"


def test_a_name_service_may_have_a_hiccup(run: Run, fake_ssh: FakeSsh, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    said = f"ssh: Could not resolve hostname {HOST}: Temporary failure in name resolution"
    env = fake_ssh(f"[ -e {flag} ] || {{ touch {flag}; echo '{said}' >&2; exit 255; }}; {RUNS}")
    assert run("-np", "1", *hosts(), "echo", "hi", env=env).stdout == "[0]<stdout>:hi\n"


def test_a_name_that_does_not_exist_is_not_tried_again(
    run: Run, fake_ssh: FakeSsh, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    said = f"ssh: Could not resolve hostname {HOST}: Name or service not known"
    env = fake_ssh(f"echo x >> {calls}; echo '{said}' >&2; exit 255")
    done = run("-np", "1", *hosts(), "true", env=env)
    assert done.returncode == 1
    assert len(calls.read_text().split()) == 1
    assert f"{said}\nWhat helps: this machine knows no such name" in done.stderr
    assert f"\nTry it by hand: ssh {HOST} true\n" in done.stderr


@pytest.mark.parametrize(
    ("said", "helps"),
    [
        ("ssh: connect to host h port 22: Network is unreachable", "see ip route"),
        ("ssh: connect to host h port 22: Connection timed out", "does a firewall let port 9"),
        ("Connection timed out during banner exchange", "does a firewall let port 9 through?"),
        ("me@h: Permission denied (publickey).", "ssh-copy-id -p 9 h"),
        ("kex_exchange_identification: Connection closed by remote host", "the log of sshd"),
        ("Connection reset by 10.0.0.1 port 22", "the log of sshd"),
        ("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.",
         "ssh-keygen -R '[h]:9'"),
        ("No ED25519 host key is known.\nHost key verification failed.", "ssh-keyscan -p 9 h"),
    ],
)  # fmt: skip
def test_what_helps(said: str, helps: str) -> None:
    text = advice(said, "h", 9, "my key")
    assert helps in text.splitlines()[0]
    assert text.splitlines()[1] == "Try it by hand: ssh -p 9 -i 'my key' h true"
    assert advice("never heard of", "h", None, None) == "Try it by hand: ssh h true\n"


def test_a_host_without_python_is_told(fake_ssh: FakeSsh, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "sh").symlink_to("/bin/sh")
    program = (
        "import sys; sys.executable = '/no/such/python'; sys.argv[0] = 'horovodrun'; "
        "from horovod.runner.launch import run_commandline; run_commandline()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "-np", "1", *hosts(), "true"],
        env=clean_env(**fake_ssh(RUNS_BARE.format(path=bare))),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "needs Python on this host: neither /no/such/python" in done.stderr
    assert f"nor python3 in PATH ({bare})" in done.stderr


def test_a_connection_that_breaks_is_a_failure(run: Run, fake_ssh: FakeSsh, mark: str) -> None:
    """The worker kills its agent; what it leaves behind ends, too."""
    name, value = mark.split("=")
    env = {**fake_ssh(RUNS), name: value}
    command = "agent=$(cut -d' ' -f4 /proc/$$/stat); kill -9 $agent; sleep 1000"
    done = run("-np", "1", *hosts(), "sh", "-c", command, env=env)
    assert done.returncode == 1
    assert f"Rank 0 (local rank 0) on host {HOST} was lost with its host" in done.stderr


def test_ssh_command_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert remote.get_ssh_command("true", "h") == (
        "ssh -o PasswordAuthentication=no -o StrictHostKeyChecking=no h true"
    )
    assert remote.get_ssh_command("true", "h", 22, "k", 10) == (
        "ssh -o PasswordAuthentication=no -o StrictHostKeyChecking=no h -p 22 -i k "
        "-o ConnectTimeout=10 true"
    )
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", "/etc/mpi/kubexec.sh")
    assert remote.get_remote_command("true", "h") == "/etc/mpi/kubexec.sh h true"


def test_checking_ssh_by_function(
    fake_ssh: FakeSsh, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", fake_ssh(RUNS)["PATH"])
    assert launch._check_all_hosts_ssh_successful([HOST, HOST])
    fake_ssh("echo no entry; exit 1")
    with pytest.raises(RuntimeError, match="could not connect to some hosts via ssh"):
        launch._check_all_hosts_ssh_successful([HOST])
    assert f"ssh not successful for host {HOST}:\nno entry" in capsys.readouterr().err


def test_which_hosts_are_this_machine() -> None:
    own = sorted(network.get_local_host_addresses())
    assert "127.0.0.1" in own
    assert network.filter_local_addresses(["localhost", HOST, *own]) == [HOST]
    assert network.get_local_intfs() == {"lo"} == network.get_local_intfs(["lo", "x"])
    assert network.get_driver_ip(["nic9", "lo"]) == "127.0.0.1"
    with pytest.raises(ValueError, match="No interface is found for address 127.0.0.1."):
        network.get_local_intfs(["nic9"])
