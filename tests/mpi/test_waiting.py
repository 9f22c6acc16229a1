"""Nobody burns a core while it waits, whatever the links."""

import re

import mpirun
import pytest


@pytest.mark.parametrize("links", ["mpi", "tcp"])
def test_a_late_rank_costs_the_others_nothing(links: str) -> None:
    done = mpirun.run_ranks(2, "late.py", HOROVODX_TRANSPORT=links, HOROVODX_HEARTBEAT_SECONDS="60")
    assert done.code == 0
    said = re.findall(r"(\w+): waited ([\d.]+) s, used ([\d.]+) % of a core", done.output)
    assert [name for name, _, _ in said] == ["new", "planned"]
    for name, waited, share in said:
        assert float(waited) > 1.5, name
        assert float(share) < 10.0, name
