"""One static job from beginning to end: hosts, networks, rendezvous, ranks."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

from horovod.runner.agent.interfaces import ipv4_interfaces
from horovod.runner.common.util.hosts import SlotInfo, get_host_assignments, parse_hosts
from horovod.runner.common.util.settings import Settings
from horovod.runner.common.util.timeout import Timeout, start_timeout_of
from horovod.runner.driver import worker_env
from horovod.runner.driver.connect import connect
from horovod.runner.driver.link import Link, addresses_on
from horovod.runner.driver.nics import driver_address, given_interfaces, probe_common_interfaces
from horovod.runner.driver.output import Outputs
from horovod.runner.driver.ranks import RankRunner, Ranks
from horovod.runner.driver.rendezvous import Rendezvous
from horovod.runner.driver.switchboard import Switchboard
from horovod.runner.util import network

DEFAULT_START_TIMEOUT = 30.0
_CLOSE_SECONDS = 2.0  # for agents without workers


@dataclass
class Job:
    """What a user asks for. `words` is the command, or with `function` the worker that runs it."""

    settings: Settings
    words: list[str]
    env: Mapping[str, str]
    function: bytes | None = None
    server_ip: str | None = None  # where the rendezvous is served; chosen if None
    open_nic_cache: Callable[[], Any] = lambda: None  # of networks found before
    results: dict[int, bytearray] = field(default_factory=dict)
    stdout: Any = None
    stderr: Any = None


def launch_job(job: Job) -> None:
    """Runs it; returns when all ranks have exited with 0 and raises otherwise."""
    settings = job.settings
    timeout = settings.start_timeout
    if not isinstance(timeout, Timeout):
        timeout = start_timeout_of(timeout or DEFAULT_START_TIMEOUT)
    slots = get_host_assignments(
        parse_hosts(settings.hosts or f"localhost:{settings.num_proc}"),
        settings.num_proc,
        settings.num_proc,
    )
    board = Switchboard()
    try:
        links, remote = _connect_hosts(board, slots, settings, timeout)
        nics = _choose_nics(board, links, remote, job, timeout)
        address = job.server_ip or _serving_address(nics, remote)
        _run_ranks(board, links, slots, nics, address, job, timeout)
    finally:
        board.close(_CLOSE_SECONDS)


def _reporter(settings: Settings) -> Any:
    def report(text: str) -> None:
        if settings.verbose >= 2:
            print(text, flush=True)

    return report


def _connect_hosts(
    board: Switchboard, slots: Sequence[SlotInfo], settings: Settings, timeout: Timeout
) -> tuple[dict[str, Link], list[str]]:
    """An agent on every host, and which hosts are not this machine."""
    report = _reporter(settings)
    names = list(dict.fromkeys(slot.hostname for slot in slots))
    report("Filtering local host names.")
    remote = network.filter_local_addresses(names, timeout.remaining() / 2)  # ssh asks, too
    if remote:
        report("Remote host found: " + " ".join(remote))
        report("Checking ssh on all remote hosts.")
    local = [name for name in names if name not in remote]
    links = connect(
        board, local, remote, settings.ssh_port, settings.ssh_identity_file, timeout, report
    )
    if remote:
        report("SSH was successful into all the remote hosts.")
    return links, remote


def _choose_nics(
    board: Switchboard, links: dict[str, Link], remote: list[str], job: Job, timeout: Timeout
) -> list[str]:
    report = _reporter(job.settings)
    given = job.settings.nics or []
    given = sorted(given) if isinstance(given, (set, frozenset)) else list(given)
    if not remote:
        report("All hosts are local, finding the interfaces with address 127.0.0.1")
        local = network.get_local_intfs(given or None)
        nics = [name for name in given if name in local] or sorted(local)
        report("Local interface found " + " ".join(nics))
        return nics
    ring = list(dict.fromkeys(links.values()))
    if given:
        return given_interfaces(ring, given)
    cache = job.open_nic_cache()
    known = cache.get("nics") if cache is not None else None
    if known and all(addresses_on(link.networks, nic) for link in ring for nic in known):
        report("Common interface found: " + " ".join(known) + " (cached)")
        return list(known)
    report("Testing interfaces on all the hosts.")
    if len(ring) == 1:  # it can only ring itself: see whether it hears us
        ring.append(_own_link(board, timeout, report))
    nics = probe_common_interfaces(board, ring, timeout, report)
    report("Common interface found: " + " ".join(nics))
    if cache is not None:
        cache.put("nics", nics)
    return nics


def _own_link(board: Switchboard, timeout: Timeout, report: Any) -> Link:
    return connect(board, ["localhost"], [], None, None, timeout, report)["localhost"]


def _serving_address(nics: list[str], remote: list[str]) -> str:
    return driver_address(nics, ipv4_interfaces(), remote)


def _run_ranks(
    board: Switchboard,
    links: dict[str, Link],
    slots: Sequence[SlotInfo],
    nics: list[str],
    address: str,
    job: Job,
    timeout: Timeout,
) -> None:
    settings = job.settings
    assignments, words = worker_env.split_assignments(job.words)
    outputs = Outputs(
        len(slots),
        bool(settings.prefix_output_with_timestamp),
        settings.output_filename,
        job.stdout,
        job.stderr,
    )
    rendezvous = Rendezvous(address)
    try:
        shared = {
            **worker_env.run_env(address, rendezvous.port, nics),
            **worker_env.placement_env(slots),
            **assignments,
        }

        def env_of(slot: SlotInfo) -> list[str]:
            forwarded = worker_env.forwarded_env(job.env, links[slot.hostname].is_local)
            own = {**worker_env.slot_env(slot), **shared}
            _reporter(settings)(_described(slot, own, words))
            return worker_env.as_words({**forwarded, **own, **rendezvous.env()})

        ranks = Ranks(slots, links, os.getcwd(), words, env_of, job.function, job.results)
        RankRunner(board, ranks, outputs).run(timeout)
    finally:
        rendezvous.stop()
        outputs.close()


def _described(slot: SlotInfo, env: Mapping[str, str], words: list[str]) -> str:
    """For --verbose; without the secret, which is not in `env`."""
    variables = " ".join(f"{k}={shlex.quote(v)}" for k, v in env.items())
    return f"Launching rank {slot.rank} on {slot.hostname}: {variables} {shlex.join(words)}"
