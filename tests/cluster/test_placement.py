"""Where ranks are put: hosts filled one after the other or in turns, evenly or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import hosts_command  # noqa: E402, F401  (it knows where ssh_hosts is)
from ssh_hosts import INTERFACE, SshHosts, why_not  # noqa: E402

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

PROGRAM = [sys.executable, str(Path(__file__).parent / "programs" / "placed_rank.py")]
LIMIT = 90  # seconds
SECRET = "5e" * 32
MEET = (
    "import os, sys; from horovodx import _horovodx; "
    "print(_horovodx.rendezvous_start(sys.argv[1], 0, os.environ['HOROVODX_SECRET'], 'placed'), "
    "flush=True); sys.stdin.read()"
)


@pytest.fixture(scope="module")
def four() -> Iterator[SshHosts]:
    with SshHosts(4) as hosts:
        yield hosts


def places(host_of: list[int]) -> list[dict[str, list[int]]]:
    """Who is who, if rank r is on host_of[r]."""
    local = [host_of[:r].count(host) for r, host in enumerate(host_of)]
    found = []
    for r, host in enumerate(host_of):
        peers = [h for h in dict.fromkeys(host_of) if host_of.count(h) > local[r]]
        found.append(
            {
                "rank": [r, len(host_of)],
                "local": [local[r], host_of.count(host)],
                "cross": [peers.index(host), len(peers)],
            }
        )
    return found


def by_horovodrun(hosts: SshHosts, host_of: list[int]) -> list[str]:
    """What the ranks say; `host_of` must be in order."""
    slots = [f"{hosts.address(h)}:{host_of.count(h)}" for h in dict.fromkeys(host_of)]
    words = ["horovodrun", "-np", str(len(host_of)), *hosts.ssh_options(), "-H", ",".join(slots)]
    words += ["--network-interfaces", INTERFACE, *PROGRAM]
    done = hosts.run(0, words, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return [line.partition("<stdout>:")[2] for line in done.stdout.splitlines()]


def by_another_launcher(hosts: SshHosts, host_of: list[int], tells_all: bool) -> list[str]:
    """The same; this one only sets variables, and without `tells_all` not more than it must."""
    meeting = hosts.popen(
        0,
        [sys.executable, "-c", MEET, hosts.address(0)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**hosts.env(), "HOROVODX_SECRET": SECRET},
    )
    assert meeting.stdout is not None
    port = meeting.stdout.readline().strip()
    ranks = []
    try:
        for host, place in zip(host_of, places(host_of)):
            env = {
                **hosts.env(),
                "HOROVODX_SECRET": SECRET,
                "HOROVODX_JOB_ID": "placed",
                "HOROVOD_GLOO_RENDEZVOUS_ADDR": hosts.address(0),
                "HOROVOD_GLOO_RENDEZVOUS_PORT": port,
                "HOROVOD_HOSTNAME": hosts.address(host),
                "HOROVOD_RANK": str(place["rank"][0]),
                "HOROVOD_SIZE": str(place["rank"][1]),
            }
            if tells_all:
                for name in ("local", "cross"):
                    env[f"HOROVOD_{name.upper()}_RANK"] = str(place[name][0])
                    env[f"HOROVOD_{name.upper()}_SIZE"] = str(place[name][1])
                env["HOROVOD_GLOO_IFACE"] = INTERFACE
                env["HOROVOD_CONTROLLER"] = "gloo"
            pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            ranks.append(hosts.popen(host, PROGRAM, env=env, **pipes))
        said = [rank.communicate(timeout=LIMIT) for rank in ranks]
    finally:
        for process in [*ranks, meeting]:
            if process.poll() is None:
                process.kill()
            process.wait()
    assert [rank.returncode for rank in ranks] == [0] * len(ranks), said
    return [out.strip() for out, _ in said]


@pytest.mark.parametrize(
    ("launcher", "host_of"),
    [
        ("horovodrun", [0, 0, 1, 1]),
        ("horovodrun", [0, 0, 0, 1]),
        ("horovodrun", [0, 1, 2, 3]),
        ("another", [0, 1, 0, 1]),
        ("another", [2, 0, 1, 2, 2]),
        ("another, terse", [0, 1, 2, 0, 1]),
    ],
    ids=str,
)
def test_ranks_know_their_places_and_compute(
    four: SshHosts, launcher: str, host_of: list[int]
) -> None:
    if launcher == "horovodrun":
        lines = by_horovodrun(four, host_of)
    else:
        lines = by_another_launcher(four, host_of, tells_all=launcher == "another")
    said = sorted((json.loads(line) for line in lines), key=lambda place: place["rank"])
    counts = {host_of.count(host) for host in host_of}
    assert said == [
        {**place, "homogeneous": len(counts) == 1, "host": four.address(host)}
        for place, host in zip(places(host_of), host_of)
    ]
    for host in range(four.count):
        four.wait_until_empty(host)
