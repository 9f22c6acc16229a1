"""Hosts, slots, and who gets which rank."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Iterable

_HOST = re.compile(r"^[\w.-]+:[0-9]+$", re.ASCII)


class HostInfo:
    """A host and how many ranks it takes."""

    def __init__(self, hostname: str, slots: int) -> None:
        self.hostname = hostname
        self.slots = slots

    @staticmethod
    def from_string(host_string: str) -> HostInfo:
        """Reads `name:slots`."""
        hostname, _, slots = host_string.strip().partition(":")
        return HostInfo(hostname, int(slots))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostInfo) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.hostname, self.slots))

    def __repr__(self) -> str:
        return f"{self.hostname}:{self.slots}"


@dataclass
class SlotInfo:
    """The place of one rank."""

    hostname: str
    rank: int
    local_rank: int
    cross_rank: int
    size: int
    local_size: int
    cross_size: int

    def to_response_string(self) -> str:
        """`rank,size,local_rank,local_size,cross_rank,cross_size`."""
        numbers = (
            self.rank,
            self.size,
            self.local_rank,
            self.local_size,
            self.cross_rank,
            self.cross_size,
        )
        return ",".join(str(n) for n in numbers)


INVALID_SLOT_INFO = SlotInfo("", -1, -1, -1, -1, -1, -1)


def parse_hosts(hosts_string: str) -> list[HostInfo]:
    """Reads `h1:2,h2:4`."""
    found = []
    for item in hosts_string.split(","):
        item = item.strip()
        if not _HOST.match(item):
            raise ValueError(
                f"Invalid host input: {item!r} in {hosts_string!r}. Hosts are written "
                "name:slots,name:slots, for example worker-0:2,worker-1:2."
            )
        found.append(HostInfo.from_string(item))
    return found


def parse_hosts_and_slots(hosts: str) -> tuple[list[str], dict[str, int]]:
    """Names in order, and the slots of each."""
    parsed = parse_hosts(hosts)
    return [h.hostname for h in parsed], {h.hostname: h.slots for h in parsed}


def parse_host_files(filename: str) -> str:
    """Reads lines `name slots=N`, as `h1:2,h2:2`.

    Empty lines, comments (#) and further `key=value` words are passed over; without `slots=` a host
    has one slot, and `name:N` is understood, too.
    """
    hosts = []
    with open(filename, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.partition("#")[0].replace(" = ", "=").split()
            if words:
                hosts.append(_host_of_line(words, f"{filename}:{number}"))
    if not hosts:
        raise ValueError(f"{filename} names no host")
    return ",".join(hosts)


def _host_of_line(words: list[str], where: str) -> str:
    name, _, slots = words[0].partition(":")
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key.lower() == "slots":
            slots = value
    host = f"{name}:{slots or 1}"
    if not _HOST.match(host):
        raise ValueError(
            f"Invalid host input: {' '.join(words)!r} in {where}; lines are name slots=N"
        )
    return host


def _merged(hosts: Iterable[HostInfo]) -> list[HostInfo]:
    """A host that is named twice has the slots of both."""
    slots: dict[str, int] = {}
    for host in hosts:
        slots[host.hostname] = slots.get(host.hostname, 0) + host.slots
    return [HostInfo(name, count) for name, count in slots.items()]


def get_host_assignments(
    hosts: Iterable[HostInfo], min_num_proc: int, max_num_proc: int | None = None
) -> list[SlotInfo]:
    """Fills hosts in the order given with consecutive ranks, up to `max_num_proc`."""
    places: list[tuple[str, int]] = []  # host, local rank
    for host in _merged(hosts):
        places += [(host.hostname, local_rank) for local_rank in range(host.slots)]
    if len(places) < min_num_proc:
        raise ValueError(
            f"Requested more processes ({min_num_proc}) than there are available slots "
            f"({len(places)})"
        )
    places = places[:max_num_proc]
    on_host: dict[str, int] = defaultdict(int)
    with_local_rank: dict[int, list[str]] = defaultdict(list)
    for hostname, local_rank in places:
        on_host[hostname] += 1
        with_local_rank[local_rank].append(hostname)
    return [
        SlotInfo(
            hostname=hostname,
            rank=rank,
            local_rank=local_rank,
            cross_rank=with_local_rank[local_rank].index(hostname),
            size=len(places),
            local_size=on_host[hostname],
            cross_size=len(with_local_rank[local_rank]),
        )
        for rank, (hostname, local_rank) in enumerate(places)
    ]
