"""Connecting to the agents of all hosts, or saying clearly which host refuses and why."""

from __future__ import annotations

import shlex
import sys
import time
from typing import Callable, Iterable

from horovod.runner.common.util.timeout import Timeout
from horovod.runner.driver.advice import advice, by_hand, key_warning
from horovod.runner.driver.bundle import local_agent_command, remote_agent_command
from horovod.runner.driver.link import Link
from horovod.runner.driver.switchboard import Switchboard
from horovod.runner.util.remote import get_remote_command

ATTEMPTS = 5
CONNECT_SECONDS = 10
_SSH_FAILED = 255  # ssh's own exit code; any other comes from the remote side
# Trying again does not help with these.
_HOPELESS = ("Permission denied", "Host key verification failed", "Could not resolve hostname")
_PERHAPS_LATER = "Temporary failure in name resolution"
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
        self.is_local = is_local
        self._command = command
        self._calls = 0
        self._next_call = 0.0
        self.link: Link | None = None
        self.said = ""  # when the last call broke off
        self.failed = False  # for good

    def call(self, board: Switchboard) -> None:
        """Dials if it is time to."""
        if self.link is None and not self.failed and time.monotonic() >= self._next_call:
            self._calls += 1
            self.link = Link(self.host, self._command, self.is_local)
            board.add(self.link)

    def judge(self, board: Switchboard) -> None:
        """Looks at a call that broke off."""
        link = self.link
        if link is None or link.greeted or not link.closed:
            return
        code = link.exit_code()
        self.said = link.complaints() or f"it ended with exit code {code} and said nothing"
        board.remove(link)
        self.link = None
        hopeless = any(text in self.said for text in _HOPELESS) and _PERHAPS_LATER not in self.said
        self.failed = hopeless or code != _SSH_FAILED or self._calls >= ATTEMPTS
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
    while not all(c.answered() or c.failed for c in callers):
        for caller in callers:
            caller.call(board)
        for _ in board.turn(min(0.1, timeout.remaining())):
            pass
        for caller in callers:
            caller.judge(board)
        silent = [c for c in callers if not c.answered() and not c.failed]
        if silent and timeout.timed_out():
            _tell(callers, ssh_port, ssh_identity_file)
            hosts = ", ".join(c.host for c in silent)
            command = by_hand(silent[0].host, ssh_port, ssh_identity_file)
            hint = "" if silent[0].is_local else f" (by hand: {command})"
            timeout.check_time_out_for(f"an answer from {hosts}{hint}")
    failed = [c for c in callers if c.failed]
    if failed:
        _tell(failed, ssh_port, ssh_identity_file)
        raise RuntimeError(
            "could not connect to some hosts via ssh: "
            + "; ".join(f"{c.host}: {_last_line(c.said)}" for c in failed)
        )
    for caller in callers:
        if caller.link is not None and not caller.is_local:
            _warn(caller.link, ssh_port)
    links = {c.host: c.link for c in callers if c.link is not None}
    if local_hosts:
        links.update(dict.fromkeys(local_hosts, links["localhost"]))
    return links


def _tell(callers: list[_Caller], ssh_port: int | None, ssh_identity_file: str | None) -> None:
    """What those said who broke off, and what helps."""
    for caller in callers:
        if caller.answered() or not caller.said:
            continue
        text = f"ssh not successful for host {caller.host}:\n{caller.said}\n"
        if not caller.is_local:
            text += advice(caller.said, caller.host, ssh_port, ssh_identity_file)
        print(text, end="", file=sys.stderr)


def _warn(link: Link, ssh_port: int | None) -> None:
    warning = key_warning(link.complaints(), link.host, ssh_port)
    if warning is not None:
        print(warning, file=sys.stderr, flush=True)


def _last_line(text: str) -> str:
    """The line that says why: ssh says it last."""
    return text.strip().splitlines()[-1]
