"""What happens to a job from outside: strangers at its ports, its network, its hosts."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from typing import Any, Callable, Iterable

import stranger

Address = tuple[str, int]
LISTEN = "0A"


def sockets_of(pid: int | str = "self") -> set[str]:
    """The inodes of a process's sockets."""
    found = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(target[8:-1])
    except OSError:
        pass
    return found


def tcp_table(pid: int | str = "self") -> list[tuple[int, str, str]]:
    """Local port, state and inode of each socket in a process's network."""
    with open(f"/proc/{pid}/net/tcp", encoding="ascii") as file:
        return rows_of(file.read())


def rows_of(table: str) -> list[tuple[int, str, str]]:
    """The same of the text of a /proc/net/tcp."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return [(int(row[1].partition(":")[2], 16), row[3], row[9]) for row in rows]


def listening_ports(pid: int | str = "self") -> list[tuple[int, str]]:
    """Where a process listens: port and inode."""
    own = sockets_of(pid)
    return [
        (port, inode) for port, state, inode in tcp_table(pid) if state == LISTEN and inode in own
    ]


def garbage(doors: Iterable[Address]) -> list[socket.socket]:
    """Bytes of all kinds for every port; also many, and an end in the middle."""
    for door in doors:
        for noise in (
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"HVDX" + os.urandom(132),
            os.urandom(100_000),
            b"\xff" * 136,
            b"\0",
        ):
            with socket.create_connection(door, 10) as sock:
                try:
                    sock.sendall(noise)
                    if random.random() < 0.5:
                        sock.settimeout(0.2)
                        sock.recv(4096)
                except OSError:
                    pass  # shown the door
    return []


def half_open(doors: Iterable[Address]) -> list[socket.socket]:
    """Callers that say nothing, or half a sentence, and stay."""
    held = []
    for door in doors:
        for number in range(20):
            sock = socket.create_connection(door, 10)
            if number % 2:
                sock.sendall(b"HVDX" + bytes(number))
            held.append(sock)
    return held


def false_friends(doors: Iterable[Address]) -> list[socket.socket]:
    """Callers who know everything but the secret."""
    for door in doors:
        for purpose in (stranger.STORE, stranger.COURIER, stranger.LINK):
            sock, challenge = stranger.knock(door)
            with sock:
                sock.sendall(stranger.hello(challenge, b"\xab" * 32, "0", purpose, 0, 1, 1))
                verdict = stranger.read_exactly(sock, stranger.VERDICT_BYTES)
            if len(verdict) == stranger.VERDICT_BYTES and verdict[6] == 0:
                raise AssertionError(f"a stranger was let in at {door}")
    return []


STRANGERS: dict[str, Callable[[Iterable[Address]], list[socket.socket]]] = {
    "garbage": garbage,
    "half-open": half_open,
    "wrong secret": false_friends,
}


def suspend(pids: Iterable[int], seconds: float, apart: float) -> None:
    """A suspended machine, a frozen container: all stop, and wake up one by one."""
    pids = list(pids)
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in pids:
            try:
                os.kill(pid, number)
            except OSError:
                continue  # it has ended
            time.sleep(apart if number == signal.SIGCONT else 0)
        time.sleep(seconds if number == signal.SIGSTOP else 0)


def link_down(hosts: Any) -> None:
    """Somebody pulls the cable of the last host."""
    hosts.set_link(hosts.count - 1, False)


def link_slow(hosts: Any) -> None:
    """It comes down to 1 Mbit/s."""
    hosts.set_rate(hosts.count - 1, "1mbit")


def host_gone(hosts: Any) -> None:
    """The power of the last host fails."""
    hosts.power_off(hosts.count - 1)


NETWORK: dict[str, Callable[[Any], None]] = {
    "link down": link_down,
    "link at 1 Mbit/s": link_slow,
    "host gone": host_gone,
}
