"""An sshd for tests: on one address, with keys of its own; it can be stopped and started anew."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time

_DEADLINE = 20.0


def sshd_path() -> str | None:
    """The program, if there is one."""
    return shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def install_ssh() -> None:
    """Tries to, where there is apt-get."""
    if shutil.which("apt-get") is None:
        return
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    packages = ["openssh-server", "openssh-client"]
    for words in (
        ["update", "-qq"],
        ["install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        subprocess.run(["apt-get", *words], env=env, capture_output=True, check=False)


class Sshd:
    """One host's; `prefix` are the words that run a command on that host."""

    def __init__(self, prefix: list[str], folder: str, listen: str) -> None:
        self._prefix = prefix
        self._settings = {
            "ListenAddress": listen,
            "HostKey": f"{folder}/host_key",
            "AuthorizedKeysFile": f"{folder}/authorized_keys",
            "PidFile": "none",
            "UsePAM": "no",
            "StrictModes": "no",
            "PermitRootLogin": "yes",
            "PasswordAuthentication": "no",
            "KbdInteractiveAuthentication": "no",
            "MaxStartups": "100",
            "PrintMotd": "no",
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Of the one that listens."""
        return None if self._process is None else self._process.pid

    def start(self, **settings: str) -> None:
        """With other settings of sshd_config, if wanted."""
        together = {**self._settings, **settings}
        options = [word for item in together.items() for word in ("-o", "=".join(item))]
        self._process = subprocess.Popen(
            [*self._prefix, str(sshd_path()), "-D", "-e", "-f", "/dev/null", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _wait_for(self._process, b"Server listening")

    def stop(self) -> None:
        """Nobody listens any more; who is logged in stays."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()
        self._process = None

    def restart(self, **settings: str) -> None:
        """The same port, other settings."""
        self.stop()
        self.start(**settings)

    def suspend(self) -> None:
        """Callers are connected, and hear nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """The reverse."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


def _wait_for(server: subprocess.Popen[bytes], text: bytes) -> None:
    assert server.stderr is not None
    os.set_blocking(server.stderr.fileno(), False)
    said = b""
    deadline = time.monotonic() + _DEADLINE
    while text not in said:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([server.stderr], [], [], left)[0]:
            raise RuntimeError(f"sshd does not start: {said.decode()}")
        piece = os.read(server.stderr.fileno(), 4096)
        if not piece:
            raise RuntimeError(f"sshd ended: {said.decode()}")
        said += piece
