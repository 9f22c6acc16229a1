"""Recorded timelines: read into steps, explained, and refused when they are none."""

import json

import pytest
from recordings import Recording, planned_steps
from sim_command import run

from horovodx.sim.timeline import read_timeline, usual_step


def test_steps_and_buckets(tmp_path):
    recorded = read_timeline(str(planned_steps(3).write(tmp_path / "t.json")))
    assert [step.tensors for step in recorded] == [["fc", "conv2", "conv1"]] * 3
    step = recorded[1]
    assert [group.bytes for group in step.groups] == [8000, 4000, 16000]
    assert step.ended - step.first_ready == pytest.approx(0.020)
    assert step.ended - step.last_ready == pytest.approx(0.008)


def test_negotiated_tensors_that_ran_together_are_one_bucket(tmp_path):
    recording = Recording()
    for tensor, start in (("b", 0), ("a", 1)):
        recording.negotiated(tensor, start, start + 1)
    recording.bucket(["b", "a"], 3, 4)
    recording.negotiated("b", 10, 11)
    recording.bucket(["b"], 11, 12)
    first, second = read_timeline(str(recording.write(tmp_path / "t.json")))
    assert first.tensors == ["b", "a"] and len(first.groups) == 1
    assert first.groups[0].last.tensor == "a"
    assert second.tensors == ["b"]


def test_what_the_end_of_the_recording_cuts_off_is_left_out(tmp_path):
    recording = planned_steps(2)
    recording._add("B", "fc", 300, name="ALLREDUCE")
    assert len(read_timeline(str(recording.write(tmp_path / "t.json")))) == 2


def test_a_bucket_given_up_when_its_plan_ended_is_left_out(tmp_path):
    recording = planned_steps(2)
    recording._add("B", "fc", 200, name="ALLREDUCE", args={"bucket": 6, "plan": 1, "index": 0})
    recording._add("B", "fc", 200, name="GLOO_ALLREDUCE")
    recording._add("E", "fc", 201)
    recording._add("E", "fc", 201, args={"dropped": 1})
    recording.negotiated("fc", 201, 202)
    recording.bucket(["fc"], 203, 204, 2000, number=7)
    first, second, third = read_timeline(str(recording.write(tmp_path / "t.json")))
    assert third.tensors == ["fc"] and third.groups[0].bytes == 8000
    assert third.groups[0].started == pytest.approx(0.203)


def test_lanes_of_plans_and_buckets_are_no_tensors(tmp_path):
    recording = planned_steps(2)
    lane = {"pid": 0, "tid": 0}
    recording.events[1:1] = [
        {"name": "thread_name", "ph": "M", "args": {"name": "plans of set 0"}} | lane,
        {"name": "PLAN", "ph": "B", "ts": 0, "args": {"plan": 1, "buckets": 3}} | lane,
        {"name": "ALLREDUCE, bucket 0", "ph": "B", "ts": 0, "pid": 0, "tid": 1},
        {"ph": "E", "ts": 5, "pid": 0, "tid": 1},
        {"name": "STEP", "ph": "i", "s": "t", "ts": 20, "args": {"took_us": 20}} | lane,
    ]
    recorded = read_timeline(str(recording.write(tmp_path / "t.json")))
    assert [step.tensors for step in recorded] == [["fc", "conv2", "conv1"]] * 2


def test_a_usual_step_is_a_late_one_of_median_length(tmp_path):
    recorded = read_timeline(str(planned_steps(9).write(tmp_path / "t.json")))
    assert 4 <= usual_step(recorded) < 9


def test_explains_where_the_time_went(capsys, tmp_path):
    code, out, err = run(capsys, "--from", planned_steps(5).write(tmp_path / "t.json"))
    assert code == 0, err
    assert "exposed 8 ms: bucket 2 took 8 ms, waited for conv1" in out
    assert "20 ms from the first gradient to the last result" in out
    line = next(line for line in out.splitlines() if line.endswith("conv1: waited for conv1"))
    assert line.split()[:8] == ["2", "1", "16", "KB", "12.00", "12.00", "8.00", "4.00"]
    assert "conv2: ready 3 ms before it started" in out
    assert "optimal" in out


def test_of_many_buckets_the_longest_are_named(capsys, tmp_path):
    recording = Recording()
    for number in range(8):
        recording.submitted(f"t{number}", 0)
    for number in range(8):
        start = 10 * number
        recording.bucket([f"t{number}"], start, start + (9 if number == 5 else 2 + number / 10))
    code, out, err = run(capsys, "--from", recording.write(tmp_path / "t.json"))
    assert code == 0, err
    said = next(line for line in out.splitlines() if line.startswith("exposed"))
    for part in ("bucket 4 took", "bucket 5 took 9 ms, ready 50 ms before it started"):
        assert part in said
    assert "bucket 0" not in said
    assert "4 other buckets took" in said
    assert "the line was idle for" in said


def test_explanation_as_json(capsys, tmp_path):
    path = planned_steps(5).write(tmp_path / "t.json")
    code, out, err = run(capsys, "--from", path, "--step", 1, "--json", "-")
    assert code == 0, err
    said = json.loads(out)
    assert said["step"] == 1
    assert said["exposed_seconds"] == pytest.approx(0.008)
    assert said["buckets"][2]["line_idle_seconds"] == pytest.approx(0.004)
    predicted = said["predicted_seconds"]
    # The recorded buckets are those of wfbp, whose prediction must meet the recording.
    assert predicted["wfbp"] == pytest.approx(0.020, rel=0.05)
    assert predicted["optimal"] <= min(predicted.values()) + 1e-12


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "not JSON"),
        ("{}", "no list of events"),
        ("[]", "no finished operation in 0 events"),
        ("[1]", "event 0: 1 is not an object"),
        (
            '[{"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}},'
            '{"ph":"B","name":"ALLREDUCE","pid":1,"ts":"now"}]',
            "event 1: ts: 'now' is not a time",
        ),
        (
            '[{"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}},'
            '{"ph":"B","name":"ALLREDUCE","pid":1,"ts":NaN}]',
            "event 1: ts: nan is not a time",
        ),
        ('[{"ph":"M","pid":[1],"name":"process_name","args":{"name":"a"}}]', "event 0: pid"),
        ('[{"ph":"B","pid":{},"ts":1}]', "event 0: pid"),
        ('[{"ph":"M","pid":1,"name":"process_name","args":[]}]', "no finished operation"),
        ('[{"ph":"E","pid":7,"ts":1}, {"ph":[]}]', "no finished operation in 2 events"),
    ],
)
def test_what_is_no_timeline_is_refused(capsys, tmp_path, text, said):
    path = tmp_path / "t.json"
    path.write_text(text)
    code, _, err = run(capsys, "--from", path)
    assert code == 2
    assert said in err


def test_a_step_that_is_not_there(capsys, tmp_path):
    path = planned_steps(2).write(tmp_path / "t.json")
    assert "there is no step 9; the recording has 2" in run(capsys, "--from", path, "--step", 9)[2]
