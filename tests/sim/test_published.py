"""Predictions against what the authors of MG-WFBP measured (Shi, Chu and Li, 2019): K80 nodes with
10 Gbit/s Ethernet, images a second on eight of them. Their constants: 45.25 us a message, 9 Gibit/s
of which a byte takes 1.2 times its share, 160/64e9 s to add up a byte, a ring. Nothing is fitted:
the speed of one node is theirs, the share of each layer is our count of multiply-adds.

Per-layer times of the real network differ, and one line cannot be right for all sizes: hence the
width of the bounds. tools/sim/README.md has the numbers."""

import pytest
from sim_command import steps

THEIRS = ("--net", "45.25us,7.5Gibit/s", "--reduce", "0.4GB/s", "--one-window")
THEIRS += ("--algorithm", "ring", "--threshold", "1GiB", "--bucket", "1GiB")
MEASURED = {
    # batch, images a second on one node; on eight by schedule (one bucket: all merged)
    "googlenet_v1": (64, 163.4, {"wfbp": 1006.4, "buckets": 889.3, "mgwfbp": 1210.9}),
    "resnet50": (32, 76.85, {"wfbp": 465.6, "buckets": 406.4, "mgwfbp": 566.6}),
}


@pytest.mark.parametrize("model", MEASURED)
def test_eight_nodes(capsys, model):
    batch, alone, measured = MEASURED[model]
    how = ("--batch", batch, "--rate", alone, "--workers", 8, "--schedule", "all")
    found = steps(capsys, model, *THEIRS, *how)
    rates = {schedule: found[schedule, 8]["examples_per_second"] for schedule in measured}
    for schedule, rate in rates.items():
        assert rate == pytest.approx(measured[schedule], rel=0.25), schedule
    assert rates["mgwfbp"] > rates["wfbp"] > rates["buckets"], "the order they found"
    assert found["optimal", 8]["seconds"] <= found["mgwfbp", 8]["seconds"]
    assert len(found["buckets", 8]["buckets"]) == 1
