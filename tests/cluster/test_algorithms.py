"""Allreduces in two levels, for real: by hosts, by slices and in a torus, several ranks a host.

That the algorithm asked for has run is read from the timeline, which has it for every tensor.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hosts_command import job  # noqa: E402
from ssh_hosts import SshHosts, why_not  # noqa: E402

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

PROGRAMS = Path(__file__).parent / "programs"
LIMIT = 240  # seconds, on a busy machine
BYTES = {"float16": 2, "float32": 4, "int64": 8}
WAYS = {
    "hierarchical": "HOROVODX_ALLREDUCE=hierarchical:0-max",
    "hierarchical_slices": "HOROVODX_ALLREDUCE=hierarchical_slices:0-max",
    "torus": "HOROVODX_ALLREDUCE=torus:0-max",
    "by_flag_hierarchical": "HOROVOD_HIERARCHICAL_ALLREDUCE=1",
    "by_flag_torus": "HOROVOD_TORUS_ALLREDUCE=1",
}


@pytest.fixture(scope="module", params=[(4, 2), (2, 4)], ids=["4 hosts x 2", "2 hosts x 4"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with the timelines of a job that has gone all ways."""
    count, each = request.param
    folder = tmp_path_factory.mktemp("timelines")
    program = [sys.executable, str(PROGRAMS / "algorithm_rank.py"), str(folder)]
    words = [*program, *(f"{name}={setting}" for name, setting in WAYS.items())]
    with SshHosts(count) as hosts:
        done = hosts.run(0, job(hosts, each, words), timeout=LIMIT)
        for host in range(count):
            hosts.wait_until_empty(host)
    assert done.returncode == 0, done.stderr
    said = [line.partition("<stdout>:")[2].split() for line in done.stdout.splitlines()]
    assert [words[0] for words in said] == list(WAYS)
    assert all(int(n) == tensors(way) and int(plans) >= 1 for way, n, plans in said), said
    yield folder


def tensors(way: str) -> int:
    """3 types, 4 sizes and 5 operations, and what was done with several at once."""
    return (60 if not way.startswith("by_flag") else 48) + 18


def algorithms(path: Path) -> dict[str, set[str]]:
    """By tensor, the algorithms of all allreduces in a timeline."""
    events = json.loads(path.read_text())
    names = {e["pid"]: e["args"].get("name") for e in events if e.get("name") == "process_name"}
    found: dict[str, set[str]] = {}
    for event in events:
        if event["ph"] == "B" and event["name"] == "ALLREDUCE":
            found.setdefault(names[event["pid"]], set()).add(event["args"]["algorithm"])
    return found


def expected(way: str, tensor: str) -> str:
    """Which one is to run."""
    if way != "by_flag_hierarchical":
        return way.removeprefix("by_flag_")
    dtype, count = tensor.split(".")[:2]
    return "hierarchical" if BYTES[dtype] * int(count) < 512 << 10 else "hierarchical_slices"


@pytest.mark.parametrize("way", WAYS)
def test_what_was_asked_for_ran_and_was_right(ran: Path, way: str) -> None:
    """That it was right is checked by the ranks, which would have failed."""
    found = algorithms(ran / f"{way}.json")
    assert len(found) == tensors(way)
    assert found == {tensor: {expected(way, tensor)} for tensor in found}
