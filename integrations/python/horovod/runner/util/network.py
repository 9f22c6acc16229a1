"""This machine's addresses, and which hosts are this machine."""

from __future__ import annotations

import random
import socket
import time
from typing import Any, Callable, Iterable

from horovod.runner.agent.interfaces import ipv4_interfaces

LOOPBACK = "127.0.0.1"


def get_local_host_addresses() -> set[str]:
    """All IPv4 addresses of this machine."""
    return {address for _, address in ipv4_interfaces()}


def get_local_intfs(nic: Iterable[str] | None = None) -> set[str]:
    """Interfaces that carry 127.0.0.1, only those of `nic` if given."""
    wanted = None if nic is None else {nic} if isinstance(nic, str) else set(nic)
    found = {
        name
        for name, address in ipv4_interfaces()
        if address == LOOPBACK and (wanted is None or name in wanted)
    }
    if not found:
        among = f" Allowed were {', '.join(sorted(wanted))}." if wanted else ""
        raise ValueError(f"No interface is found for address {LOOPBACK}.{among}")
    return found


def resolve_host_address(host_name: str) -> str | None:
    """An IPv4 address, or None; ssh may know names that this machine does not."""
    try:
        return socket.gethostbyname(host_name)
    except OSError:
        return None


def _is_address(name: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET, name)
        return True
    except OSError:
        return False


def _resolve_all(names: set[str], seconds: float) -> dict[str, str]:
    """All at once, so that a name service that does not answer is waited for once."""
    import threading

    found = {name: name for name in names if _is_address(name)}

    def look_up(name: str) -> None:
        address = resolve_host_address(name)
        if address is not None:
            found[name] = address

    unknown = sorted(names - found.keys())
    threads = [threading.Thread(target=look_up, args=(name,), daemon=True) for name in unknown]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return dict(found)


def filter_local_addresses(all_host_names: Iterable[str], seconds: float = 10) -> list[str]:
    """The hosts that are not this machine; so is a name that nobody explains in time."""
    own: set[str] | None = None
    remote = []
    names = list(all_host_names)
    addresses = _resolve_all({name for name in names if name != "localhost"}, seconds)
    for name in names:
        address = LOOPBACK if name == "localhost" else addresses.get(name)
        if address is not None and address.startswith("127."):
            continue
        own = get_local_host_addresses() if own is None else own
        if address not in own:
            remote.append(name)
    return remote


def find_port(server_factory: Callable[[tuple[str, int]], Any]) -> tuple[Any, int]:
    """Makes a server on a free port: `server_factory` takes (address, port)."""
    least, most = 1024, 65536
    start = random.randrange(least, most)
    for offset in range(most - least):
        port = least + (start - least + offset) % (most - least)
        try:
            return server_factory(("", port)), port
        except OSError:
            continue
    raise RuntimeError("Unable to find a port to bind to.")


def get_driver_ip(nics: Iterable[str]) -> str:
    """This machine's IPv4 address on the first of the interfaces that it has."""
    networks = ipv4_interfaces()
    nics = list(nics)
    for nic in nics:
        for name, address in networks:
            if name == nic:
                return address
    raise RuntimeError(f"this machine has no IPv4 address on {', '.join(nics)}")
