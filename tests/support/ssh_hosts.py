"""Hosts for tests: network namespaces with an sshd each, joined by a switch.

    with SshHosts(2) as hosts:
        hosts.run(0, ["horovodrun", "-np", "2", *hosts.ssh_options(), "-H", hosts.slots(1), ...])

All hosts share files and process ids with this machine; what differs is the network. Host i has
one address (hosts.address(i)) on an interface that has the same name everywhere. Needs root. Keys,
configuration and a private `ssh` that writes no known_hosts lie in a temporary folder. Everything
is removed at the end, also when a test fails; what a killed run left behind goes at the next start.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from sshd import Sshd, install_ssh, sshd_path  # noqa: E402

INTERFACE = "hvd0"
PORT = 2222
_NETWORK = "10.213.77"
_DEADLINE = 20.0


def why_not() -> str | None:
    """Why such hosts cannot be had here; None if they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "hosts in network namespaces need root on Linux"
    if shutil.which("ip") is None:
        return "the command ip (iproute2) is missing"
    if shutil.which("ssh") is None or sshd_path() is None:
        install_ssh()
    if shutil.which("ssh") is None or sshd_path() is None:
        return "sshd (openssh-server) is missing and could not be installed"
    probe = f"hvdxp{os.getpid()}"
    if _ip("netns", "add", probe, check=False).returncode != 0:
        return "this container may not create network namespaces"
    _ip("netns", "del", probe)
    return None


def _ip(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False, timeout=20)
    if check and done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done


class SshHosts:
    """`count` hosts, alive inside of a `with`; with `rate` ("1gbit") each link is that fast."""

    def __init__(self, count: int, rate: str | None = None) -> None:
        self.count = count
        self.rate = rate
        self._name = f"hvdx{os.getpid()}n"
        self._switch = self._name + "s"
        self._servers: list[Sshd] = []
        self.folder = ""

    # --- what tests use ---

    def address(self, host: int) -> str:
        """The address of a host, which is also its name."""
        return f"{_NETWORK}.{host + 1}"

    def slots(self, each: int) -> str:
        """All hosts for -H, with `each` slots."""
        return ",".join(f"{self.address(h)}:{each}" for h in range(self.count))

    def ssh_options(self) -> list[str]:
        """What horovodrun needs to get in."""
        return ["--ssh-port", str(PORT), "--ssh-identity-file", self.key]

    @property
    def key(self) -> str:
        """The private key that all hosts accept."""
        return os.path.join(self.folder, "key")

    @property
    def wrong_key(self) -> str:
        """One that they do not."""
        return os.path.join(self.folder, "wrong_key")

    def namespace(self, host: int) -> str:
        """The name of a host's network namespace."""
        return f"{self._name}{host}"

    def inside(self, host: int, words: list[str]) -> list[str]:
        """A command as it is run on a host, without ssh."""
        return ["ip", "netns", "exec", self.namespace(host), *words]

    def env(self) -> dict[str, str]:
        """An environment in which `ssh` is the private one."""
        path = os.path.join(self.folder, "bin") + ":" + os.environ["PATH"]
        return {**os.environ, "PATH": path, "HOME": self.folder}

    def popen(self, host: int, words: list[str], **options: object) -> subprocess.Popen[str]:
        """Starts a command on a host."""
        more = {"env": self.env(), "text": True, "stdin": subprocess.DEVNULL, **options}
        return subprocess.Popen(self.inside(host, words), **more)  # type: ignore[call-overload, no-any-return]

    def run(
        self, host: int, words: list[str], timeout: float = 60, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command on a host."""
        return subprocess.run(
            self.inside(host, words),
            env={**self.env(), **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )

    def sshd(self, host: int) -> Sshd:
        """A host's sshd, to be stopped or started anew."""
        return self._servers[host]

    def processes(self, host: int) -> set[int]:
        """Ids of everything that runs on a host, its sshd excepted."""
        found = _ip("netns", "pids", self.namespace(host), check=False).stdout.split()
        return {int(pid) for pid in found} - {server.pid for server in self._servers}

    def wait_until_empty(self, host: int, seconds: float = 15) -> None:
        """Waits until nothing but sshd runs on a host."""
        deadline = time.monotonic() + seconds
        while left := self.processes(host):
            if time.monotonic() > deadline:
                raise AssertionError(f"still running on host {host}: {_commands(left)}")
            time.sleep(0.02)

    def add_interface(self, host: int, name: str, address: str) -> None:
        """Another interface that leads nowhere, as docker0 does."""
        inside = ["-n", self.namespace(host)]
        _ip(*inside, "link", "add", name, "type", "bridge")
        _ip(*inside, "addr", "add", f"{address}/24", "dev", name)
        _ip(*inside, "link", "set", name, "up")

    def remove_interface(self, host: int, name: str) -> None:
        """The reverse of add_interface()."""
        _ip("-n", self.namespace(host), "link", "del", name)

    def set_link(self, host: int, up: bool) -> None:
        """Plugs a host's cable in or out, at the switch."""
        _ip("-n", self._switch, "link", "set", f"port{host}", "up" if up else "down")

    def set_rate(self, host: int, rate: str) -> None:
        """The speed of a host's cable from now on, each way."""
        for namespace, device in ((self.namespace(host), INTERFACE), (self._switch, f"port{host}")):
            words = f"qdisc replace dev {device} root tbf rate {rate} burst 128kb latency 50ms"
            subprocess.run(["tc", "-n", namespace, *words.split()], check=True, timeout=20)

    def power_off(self, host: int) -> None:
        """A host goes without a word: its cable first, then all that runs there, then itself."""
        self.set_link(host, False)
        self._servers[host].stop()
        deadline = time.monotonic() + _DEADLINE
        while left := self.processes(host):
            for pid in left:
                _kill(pid)
            if time.monotonic() > deadline:
                raise RuntimeError(f"cannot be killed on host {host}: {_commands(left)}")
            time.sleep(0.02)
        _ip("netns", "del", self.namespace(host))

    # --- building and tearing down ---

    def __enter__(self) -> SshHosts:
        remove_leftovers()
        try:
            self.folder = tempfile.mkdtemp(prefix="hvdx-ssh-hosts-")
            self._make_network()
            self._make_files()
            for host in range(self.count):
                listen = f"{self.address(host)}:{PORT}"
                self._servers.append(Sshd(self.inside(host, []), self.folder, listen))
                self._servers[host].start()
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._tear_down()

    def _make_network(self) -> None:
        _ip("netns", "add", self._switch)
        _ip("-n", self._switch, "link", "add", "bridge0", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "bridge0", "up")
        for host in range(self.count):
            name = self.namespace(host)
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
            _ip(
                "-n", name, "link", "add", INTERFACE, "type", "veth",
                "peer", "name", f"port{host}", "netns", self._switch,
            )  # fmt: skip
            _ip("-n", self._switch, "link", "set", f"port{host}", "master", "bridge0", "up")
            _ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", INTERFACE)
            _ip("-n", name, "link", "set", INTERFACE, "up")
            if self.rate:
                self.set_rate(host, self.rate)

    def _make_files(self) -> None:
        for name in ("key", "wrong_key", "host_key"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.folder}/{name}"],
                check=True,
                timeout=20,
            )
        shutil.copy(f"{self.folder}/key.pub", f"{self.folder}/authorized_keys")
        with open(f"{self.folder}/ssh_config", "w", encoding="utf-8") as file:
            file.write("UserKnownHostsFile /dev/null\nGlobalKnownHostsFile /dev/null\n")
            file.write("LogLevel ERROR\nIdentitiesOnly yes\nIdentityAgent none\n")
        os.mkdir(f"{self.folder}/bin")
        ssh = f"{self.folder}/bin/ssh"
        with open(ssh, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.folder}/ssh_config "$@"\n')
        os.chmod(ssh, 0o755)
        # As its service does at boot. It stays: sshds of another process may be using it.
        os.makedirs("/run/sshd", 0o755, exist_ok=True)

    def _tear_down(self) -> None:
        for host in range(self.count):
            for pid in self.processes(host):
                _kill(pid)
        for server in self._servers:
            server.stop()
        for host in range(self.count):
            _ip("netns", "del", self.namespace(host), check=False)
        _ip("netns", "del", self._switch, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def _commands(pids: set[int]) -> list[str]:
    found = []
    for pid in sorted(pids):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found.append(f"{pid} {file.read().replace(bytes(1), b' ').decode()[:120]}")
        except OSError:
            continue
    return found


def remove_leftovers() -> None:
    """Namespaces of test runs that no longer exist."""
    for name in _ip("netns", "list", check=False).stdout.split():
        match = re.fullmatch(r"hvdx(\d+)n[0-9s]+", name)
        if match and not os.path.exists(f"/proc/{match.group(1)}"):
            for pid in _ip("netns", "pids", name, check=False).stdout.split():
                _kill(int(pid))
            _ip("netns", "del", name, check=False)
