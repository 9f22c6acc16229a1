"""What hosts send each other for an allreduce: bytes counted by the network, not predicted.

With slices a second rank on each host costs nothing between hosts; a ring that passes through every
rank does.
"""

from __future__ import annotations

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

PROGRAM = Path(__file__).parent / "programs" / "traffic_rank.py"
COUNT, TIMES = 2_000_003, 3  # float32
PAYLOAD = 4 * COUNT * TIMES  # what a host must send: 2 (h - 1) / h of it, and h is 2
LIMIT = 90  # seconds


@pytest.fixture(scope="module")
def two() -> Iterator[SshHosts]:
    with SshHosts(2) as hosts:
        yield hosts


def sent(hosts: SshHosts, each: int, *algorithms: str) -> dict[str, list[int]]:
    """Bytes that each host has sent, by algorithm."""
    words = [sys.executable, str(PROGRAM), str(COUNT), str(TIMES), *algorithms]
    done = hosts.run(0, job(hosts, each, words), timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[int]] = {algorithm: [0, 0] for algorithm in algorithms}
    for line in done.stdout.splitlines():
        host, algorithm, count = line.partition("<stdout>:")[2].split()
        found[algorithm][int(host)] = int(count)
    for host in range(hosts.count):
        hosts.wait_until_empty(host)
    return found


def test_a_second_rank_costs_nothing_between_hosts(two: SshHosts) -> None:
    one = sent(two, 1, "hierarchical_slices")
    more = sent(two, 2, "hierarchical_slices", "hierarchical", "torus", "ring")
    for host in range(2):
        alone = one["hierarchical_slices"][host]
        assert PAYLOAD <= alone < 1.05 * PAYLOAD, (one, PAYLOAD)
        for algorithm in ("hierarchical_slices", "hierarchical", "torus"):
            assert abs(more[algorithm][host] - alone) < 0.03 * alone, (one, more)
        # 2 (n - 1) / n with n = 4: a count that takes everything for the same would not see this.
        assert 1.4 * PAYLOAD < more["ring"][host] < 1.6 * PAYLOAD, more
