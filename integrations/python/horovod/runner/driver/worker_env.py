"""The environment of a worker."""

from __future__ import annotations

import os
from itertools import groupby
from typing import Iterable, Mapping, Sequence

from horovod.runner.common.util.env import is_exportable
from horovod.runner.common.util.hosts import SlotInfo
from horovod.runner.driver.rendezvous import SECRET


def slot_env(slot: SlotInfo) -> dict[str, str]:
    """Who it is."""
    return {
        "HOROVOD_HOSTNAME": str(slot.hostname),
        "HOROVOD_RANK": str(slot.rank),
        "HOROVOD_SIZE": str(slot.size),
        "HOROVOD_LOCAL_RANK": str(slot.local_rank),
        "HOROVOD_LOCAL_SIZE": str(slot.local_size),
        "HOROVOD_CROSS_RANK": str(slot.cross_rank),
        "HOROVOD_CROSS_SIZE": str(slot.cross_size),
    }


def run_env(address: str, port: int, nics: Iterable[str], elastic: bool = False) -> dict[str, str]:
    """How it finds the others."""
    nics = list(nics)
    env = {
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": address,
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port),
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_IFACE": nics[0],
        "NCCL_SOCKET_IFNAME": ",".join(nics),
    }
    if elastic:
        env["HOROVOD_ELASTIC"] = "1"
    return env


def placement_env(slots: Sequence[SlotInfo]) -> dict[str, str]:
    """Where all ranks are, so that who waits for one can say where it should be."""
    by_host = groupby(slot.hostname for slot in sorted(slots, key=lambda slot: int(slot.rank)))
    return {"HOROVODX_HOSTS": ",".join(f"{host}:{len(list(each))}" for host, each in by_host)}


def forwarded_env(env: Mapping[str, str], is_local: bool) -> dict[str, str]:
    """What it has of the launcher's environment; a worker of this machine has all of it."""
    kept = {k: v for k, v in env.items() if is_local or is_exportable(k)}
    kept.pop(SECRET, None)
    kept["PYTHONUNBUFFERED"] = "1"
    return kept


def split_assignments(command: list[str]) -> tuple[dict[str, str], list[str]]:
    """`NAME=value` words before the command are variables, as they are for env(1)."""
    env, rest = {}, list(command)
    while len(rest) > 1 and "=" in rest[0] and rest[0].partition("=")[0].isidentifier():
        name, _, value = rest.pop(0).partition("=")
        env[name] = value
    return env, rest


def as_words(env: Mapping[str, str]) -> list[str]:
    """`NAME=value` of each."""
    return [f"{name}={value}" for name, value in env.items()]


def current_env() -> dict[str, str]:
    """A copy of this process's environment."""
    return dict(os.environ)
