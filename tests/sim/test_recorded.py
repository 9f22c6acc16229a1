"""What a real engine records, explained."""

import json
import os
import subprocess

import pytest
from sim_command import run


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
    # (A bucket may take less than a microsecond, which is what a timeline counts in.)
    assert all(b["predicted_start_seconds"] <= b["predicted_end_seconds"] for b in buckets)
    assert any(b["predicted_start_seconds"] < b["predicted_end_seconds"] for b in buckets)
    assert set(said["predicted_seconds"]) == {"wfbp", "fusion", "buckets", "mgwfbp", "optimal"}
    with open(path, encoding="utf-8") as file:
        _check_plans(json.load(file), schedule)
    readable = run(capsys, "--from", path)[1]
    assert "exposed" in readable and "predicted start" in readable
    # The same recording as a model: its gradients over about the time that they took to come.
    code, out, err = run(capsys, path, "--workers", 64, "--json", "-")
    assert code == 0, err
    elsewhere = json.loads(out)
    assert elsewhere["gradients"] >= 12 and elsewhere["bytes"] > 0
    assert 0.003 < elsewhere["backward_seconds"] < 1
    assert elsewhere["steps"][0]["workers"] == 64


def _check_plans(events, schedule):
    """Each plan says what it is and why it ended; its steps and buckets where they stand in it."""
    begun = [e["args"] for e in events if e.get("name") == "PLAN"]
    assert begun and all(plan["rule"] == schedule and plan["predicted_us"] > 0 for plan in begun)
    assert sum("why" in e.get("args", {}) for e in events) == len(begun)
    steps = [e["args"] for e in events if e.get("name") == "STEP"]
    assert len(steps) >= 20 and all(step["took_us"] > 0 for step in steps)
    buckets = {plan["plan"]: plan["buckets"] for plan in begun}
    places = [e["args"] for e in events if "index" in e.get("args", {})]
    assert all(place["index"] < buckets[place["plan"]] for place in places)
    whole = {(s["plan"], s["step"]) for s in steps}
    seen = {(p["plan"], p["step"], p["index"]) for p in places}
    assert all((*step, index) in seen for step in whole for index in range(buckets[step[0]]))
