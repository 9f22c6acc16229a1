"""Which network interfaces the workers use."""

from __future__ import annotations

import os
from typing import Callable, Sequence

from horovod.runner.agent import frames
from horovod.runner.agent.frames import pack_fields, unpack_fields
from horovod.runner.common.util.timeout import Timeout
from horovod.runner.driver.link import Link, addresses_on
from horovod.runner.driver.switchboard import Switchboard

Report = Callable[[str], None]


def probe_common_interfaces(
    board: Switchboard, links: Sequence[Link], timeout: Timeout, report: Report
) -> list[str]:
    """Interfaces over which every host reaches the next one, all hosts standing in a ring."""
    token = os.urandom(32).hex()
    for number, link in enumerate(links):
        link.say(frames.LISTEN, number, pack_fields(token, str(number)))
    listening = _gather(board, links, frames.LISTENING, timeout, "hosts to open their networks")
    for number, link in enumerate(links):
        after = (number + 1) % len(links)
        targets = listening[links[after]]
        report(f"{link.host} tries to reach {links[after].host}: {' '.join(targets)}")
        link.say(frames.DIAL, number, pack_fields(token, str(after), *targets))
    reached = _gather(board, links, frames.REACHED, timeout, "hosts to reach each other")
    common = [name for name in reached[links[0]] if all(name in reached[k] for k in links)]
    if not common:
        raise RuntimeError(_nothing_common(links, reached))
    return list(dict.fromkeys(common))


def given_interfaces(links: Sequence[Link], given: Sequence[str]) -> list[str]:
    """What a user has chosen, those first that every host has: ranks meet on the first."""
    common = [n for n in given if all(addresses_on(link.networks, n) for link in links)]
    if not common:
        lines = [
            f"None of the interfaces given with --network-interfaces ({', '.join(given)}) has an "
            "IPv4 address on every host."
        ]
        lines += [f"  {link.host} has {_networks_of(link)}" for link in links]
        raise RuntimeError("\n".join(lines))
    return common + [name for name in given if name not in common]


def _networks_of(link: Link) -> str:
    return ", ".join(f"{name} {address}" for name, address in link.networks)


def _gather(
    board: Switchboard, links: Sequence[Link], kind: bytes, timeout: Timeout, activity: str
) -> dict[Link, list[str]]:
    """One answer from every link."""
    answers: dict[Link, list[str]] = {}
    while len(answers) < len(links):
        for link, frame in board.turn(min(0.2, timeout.remaining())):
            if frame[0] == kind:
                answers[link] = unpack_fields(frame[2])
        silent = [link.host for link in links if link not in answers]
        for link in links:
            if link.closed and link not in answers:
                raise RuntimeError(f"lost the connection to {link.host}: {link.complaints()}")
        if silent:
            timeout.check_time_out_for(f"{activity} ({', '.join(silent)})")
    return answers


def _nothing_common(links: Sequence[Link], reached: dict[Link, list[str]]) -> str:
    lines = [
        "Unable to find a set of common task-to-task communication interfaces: every host must "
        "reach the next one over an interface that has the same name on both.",
    ]
    for number, link in enumerate(links):
        after = links[(number + 1) % len(links)]
        over = ", ".join(reached[link]) or "none"
        lines.append(f"  {link.host} has {_networks_of(link)}; it reaches {after.host} over {over}")
    lines.append("Interfaces can be chosen with --network-interfaces.")
    return "\n".join(lines)


def driver_address(
    nics: Sequence[str], own: Sequence[tuple[str, str]], remote: Sequence[str]
) -> str:
    """Where this machine serves the rendezvous: its address on the first interface it has.

    A launcher outside of the job may have other interfaces; then the address from which it reaches
    the first host.
    """
    for name in nics:
        for address in addresses_on(own, name):
            return address
    if remote:
        import socket

        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as dialer:
                dialer.connect((remote[0], 9))  # sends nothing
                return str(dialer.getsockname()[0])
        except OSError:
            pass
    raise ValueError(
        f"this machine has no IPv4 address on any of the interfaces {', '.join(nics)}; it has "
        + ", ".join(f"{name} {address}" for name, address in own)
    )
