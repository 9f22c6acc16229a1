"""Connecting to the agents of all hosts, or saying clearly which host refuses and why."""

from __future__ import annotations

import shlex
import sys
import time
from typing import Callable, Iterable

from horovod.runner.common.util.timeout import Timeout
from horovod.runner.driver.bundle import local_agent_command, remote_agent_command
from horovod.runner.driver.link import Link
from horovod.runner.driver.switchboard import Switchboard
from horovod.runner.util.remote import get_remote_command

ATTEMPTS = 5
CONNECT_SECONDS = 10
_SSH_FAILED = 255  # ssh's own exit code; any other comes from the remote side
# Trying again does not help with these.
_HOPELESS = ("Permission denied", "Host key verification failed", "Could not resolve hostname")
# A host that is cut off while the job runs is noticed after two minutes.
_KEEP_ALIVE = ["-o", "ServerAliveInterval=20", "-o", "ServerAliveCountMax=6"]

Report = Callable[[str], None]


def agent_command(host: str, ssh_port: int | None, ssh_identity_file: str | None) -> list[str]:
    """The words that start an agent on another host."""
    command = shlex.quote(remote_agent_command())
    words = shlex.split(
        get_remote_command(command, host, ssh_port, ssh_identity_file, CONNECT_SECONDS)
    )
    return words[:1] + _KEEP_ALIVE + words[1:] if words[0] == "ssh" else words


class _Caller:
    """One host, called until it answers."""

    def __init__(self, host: str, command: list[str], is_local: bool) -> None:
        self.host = host
        self._command = command
        self._is_local = is_local
        self._calls = 0
        self._next_call = 0.0
        self.link: Link | None = None
        self.failure: str | None = None

    def call(self, board: Switchboard) -> None:
        """Dials if it is time to."""
        if self.link is None and self.failure is None and time.monotonic() >= self._next_call:
            self._calls += 1
            self.link = Link(self.host, self._command, self._is_local)
            board.add(self.link)

    def judge(self, board: Switchboard) -> None:
        """Looks at a call that broke off."""
        link = self.link
        if link is None or link.greeted or not link.closed:
            return
        code = link.exit_code()
        said = link.complaints() or f"it ended with exit code {code} and said nothing"
        board.remove(link)
        self.link = None
        hopeless = code != _SSH_FAILED or any(text in said for text in _HOPELESS)
        if hopeless or self._calls >= ATTEMPTS:
            self.failure = said
        self._next_call = time.monotonic() + 0.2 * self._calls

    def answered(self) -> bool:
        """Whether its agent is ready."""
        return self.link is not None and self.link.greeted


def connect(
    board: Switchboard,
    local_hosts: Iterable[str],
    remote_hosts: Iterable[str],
    ssh_port: int | None,
    ssh_identity_file: str | None,
    timeout: Timeout,
    report: Report,
) -> dict[str, Link]:
    """Starts an agent on every host, all at once; hosts that are this machine share one."""
    callers = [
        _Caller(host, agent_command(host, ssh_port, ssh_identity_file), False)
        for host in remote_hosts
    ]
    local_hosts = list(local_hosts)
    local = _Caller("localhost", local_agent_command(), True)
    if local_hosts:
        callers.append(local)
    for caller in callers:
        report(f"Connecting to {caller.host}")
    while not all(c.answered() or c.failure for c in callers):
        for caller in callers:
            caller.call(board)
        for _ in board.turn(min(0.1, timeout.remaining())):
            pass
        for caller in callers:
            caller.judge(board)
        silent = [c.host for c in callers if not c.answered() and not c.failure]
        if silent and timeout.timed_out():
            _tell([c for c in callers if c.failure])
            timeout.check_time_out_for("an answer from " + ", ".join(silent))
    failed = [c for c in callers if c.failure]
    if failed:
        _tell(failed)
        raise RuntimeError(
            "could not connect to some hosts via ssh: "
            + "; ".join(f"{c.host}: {_first_line(c.failure)}" for c in failed)
        )
    links = {c.host: c.link for c in callers if c.link is not None}
    if local_hosts:
        links.update(dict.fromkeys(local_hosts, links["localhost"]))
    return links


def _tell(failed: list[_Caller]) -> None:
    for caller in failed:
        print(f"ssh not successful for host {caller.host}:\n{caller.failure}", file=sys.stderr)


def _first_line(text: str | None) -> str:
    """The line that says why: ssh says it last."""
    return (text or "").strip().splitlines()[-1]
