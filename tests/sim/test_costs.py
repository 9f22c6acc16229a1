"""horovodx.costs: what rank 0 of a real job says that its allreduces take, and which ones run."""

import json
import os
import subprocess
import sys

import pytest

from horovodx.costs import allreduce_cost, allreduce_selection

TRAIN = """
import json, numpy
from horovod.common.basics import HorovodBasics
from horovodx import _horovodx
from horovodx.costs import allreduce_cost, allreduce_selection
hvd = HorovodBasics(None)
hvd.init()
def step():
    tensors = [numpy.full(n, hvd.rank(), numpy.float32) for n in (10, 3000, 200_000)]
    handles = [
        _horovodx.submit(0, f"t{i}", 7, x.shape, x.ctypes.data, x.ctypes.data)
        for i, x in enumerate(tensors)
    ]
    _horovodx.wait_all(handles)
    _horovodx.release_all(handles)
for _ in range(40):
    step()
cost = allreduce_cost()
print("SAID", json.dumps([hvd.rank(), cost and cost._asdict(), allreduce_selection()]), flush=True)
step()  # nobody ends before all have asked
"""


def said(**variables):
    """By rank: the cost as a dictionary, and the selection."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HOROVOD")}
    done = subprocess.run(
        ["horovodrun", "-np", "2", sys.executable, "-c", TRAIN],
        env=clean | variables, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.partition("SAID ")[2] for line in done.stdout.splitlines() if "SAID" in line]
    return {rank: (cost, selection) for rank, cost, selection in map(json.loads, lines)}


def check_table(selection):
    """Every size has a row, and one only."""
    table = selection["table"]
    assert table[0]["from"] == 0 and table[-1]["to"] is None
    assert all(row["to"] == after["from"] for row, after in zip(table, table[1:]))
    return table


def test_over_links_each_algorithm_and_level_is_told():
    by_rank = said(HOROVODX_TRANSPORT="tcp", HOROVODX_SCHEDULE="wfbp")
    cost, selection = by_rank[0]
    assert by_rank[1] == (None, None)
    assert cost["samples"] > 0 and 0 < cost["latency"] <= cost["mebibyte"]
    for latency, seconds_per_byte in (cost["host"], cost["net"]):
        assert latency > 0 and seconds_per_byte > 0
    assert cost["algorithms"] and "staged" not in cost["algorithms"]
    for points in cost["algorithms"].values():
        assert points and all(size > 0 and seconds > 0 for size, seconds in points)
    assert (selection["ranks"], selection["hosts"], selection["on_stage"]) == (2, 1, False)
    assert selection["samples"] > 0
    table = check_table(selection)
    assert any(row["why"] == "measured" for row in table)
    assert all(row["seconds"] > 0 for row in table)


@pytest.mark.parametrize("schedule", ["optimal", "fusion"])
def test_through_shared_memory_costs_are_known_if_the_schedule_asks_for_them(schedule):
    by_rank = said(HOROVODX_SCHEDULE=schedule)
    assert by_rank[1] == (None, None)
    cost, selection = by_rank[0]
    assert selection["on_stage"]
    assert [row["algorithm"] for row in check_table(selection)] == ["staged"]
    if schedule == "fusion":
        assert cost is None
        return
    assert cost["samples"] > 0
    assert cost["host"] is None and cost["net"] is None
    assert list(cost["algorithms"]) == ["staged"]


def test_nothing_is_known_before_init():
    assert allreduce_cost() is None
    assert allreduce_selection() is None
