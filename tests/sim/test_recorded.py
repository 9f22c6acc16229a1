"""What a real engine records and measures: timelines explained, costs told."""

import json
import os
import subprocess
import sys

import pytest
from sim_command import run

from horovodx.costs import allreduce_cost


def start(command, **variables):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HOROVOD")}
    done = subprocess.run(
        command,
        env=clean | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("schedule", ["wfbp", "optimal"])
def test_a_recorded_step_is_explained(capsys, tmp_path, schedule):
    path = str(tmp_path / "timeline.json")
    bench = ["hvdx-bench", "small", "-np", "2", "--tensors", "12", "--steps", "20"]
    bench += ["--warmup", "10", "--backward-ms", "6", "--sleep"]
    start(bench, HOROVOD_TIMELINE=path, HOROVODX_SCHEDULE=schedule)
    code, out, err = run(capsys, "--from", path, "--json", "-")
    assert code == 0, err
    said = json.loads(out)
    assert said["steps"] >= 30
    buckets = said["buckets"]
    tensors = [name for bucket in buckets for name in bucket["tensors"] if "small" in name]
    assert len(set(tensors)) == 12
    if schedule == "wfbp":
        assert all(len(bucket["tensors"]) == 1 for bucket in buckets)
    assert all(b["ready_seconds"] <= b["start_seconds"] <= b["end_seconds"] for b in buckets)
    # Planned steps say when tensors came: over milliseconds, not when their buckets ran.
    assert buckets[-1]["ready_seconds"] - buckets[0]["ready_seconds"] > 0.003
    # The engine says what the schedule expected, and by which algorithm it ran.
    assert all(b["algorithm"] == "staged" for b in buckets)
    assert all(b["predicted_start_seconds"] < b["predicted_end_seconds"] for b in buckets)
    assert set(said["predicted_seconds"]) == {"wfbp", "fusion", "buckets", "mgwfbp", "optimal"}
    readable = run(capsys, "--from", path)[1]
    assert "exposed" in readable and "predicted start" in readable
    # The same recording as a model: its gradients over about the time that they took to come.
    code, out, err = run(capsys, path, "--workers", 64, "--json", "-")
    assert code == 0, err
    elsewhere = json.loads(out)
    assert elsewhere["gradients"] >= 12 and elsewhere["bytes"] > 0
    assert 0.003 < elsewhere["backward_seconds"] < 1
    assert elsewhere["steps"][0]["workers"] == 64


TRAIN = """
import torch, horovod.torch as hvd
from horovodx.costs import allreduce_cost
hvd.init()
tensors = [torch.ones(1000 + i) for i in range(6)]
for step in range(30):
    handles = [hvd.allreduce_async(t, name=str(i), op=hvd.Sum) for i, t in enumerate(tensors)]
    for handle in handles:
        assert hvd.synchronize(handle)[0] == hvd.size()
print("COST", hvd.rank(), allreduce_cost(), flush=True)
"""


def test_costs_are_told_on_rank_0():
    pytest.importorskip("torch")
    command = ["horovodrun", "-np", "2", sys.executable, "-c", TRAIN]
    said = start(command, HOROVODX_SCHEDULE="optimal", OMP_NUM_THREADS="1")
    assert "COST 0 AllreduceCost(samples=" in said
    assert "COST 1 None" in said


def test_nothing_is_known_before_init():
    assert allreduce_cost() is None
