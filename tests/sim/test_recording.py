"""A recorded timeline as the model that is simulated."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from recordings import Recording, planned_steps
from sim_command import run, steps

SLOW = ("--net", "1.5ms,1MB/s", "--reduce", "1000TB/s", "--one-window", "--algorithm", "ring")


def test_gradients_are_those_of_the_recording(capsys, tmp_path):
    path = planned_steps(5).write(tmp_path / "t.json")
    code, out, err = run(capsys, path, "--workers", "1-8", "--json", "-")
    assert code == 0, err
    said = json.loads(out)
    assert (said["gradients"], said["bytes"], said["batch"]) == (3, 28000, 1)
    # A step is 100 ms, and its last result is there after 20.
    assert said["forward_seconds"] == pytest.approx(0.080)
    assert said["backward_seconds"] == pytest.approx(0.012)
    assert [step["workers"] for step in said["steps"]] == [1, 2, 4, 8]
    assert said["steps"][0]["seconds"] == pytest.approx(0.092)


def test_what_leaves_when_is_found_for_another_link(capsys, tmp_path):
    path = planned_steps(5).write(tmp_path / "t.json")
    found = steps(capsys, path, *SLOW, "--workers", 2, "--schedule", "wfbp,optimal")
    # 3 ms and 1 ms a kilobyte: fc from 0 to 11, conv2 to 18, conv1 to 37.
    assert found["wfbp", 2]["seconds"] == pytest.approx(0.080 + 0.037)
    wfbp = found["wfbp", 2]["buckets"]
    assert [b["gradients"] for b in wfbp] == [["fc"], ["conv2"], ["conv1"]]
    assert [b["ready_seconds"] for b in wfbp] == pytest.approx([0, 0.002, 0.012])
    # Two waits for one: fc to 11, then both from 12 to 35.
    assert found["optimal", 2]["seconds"] == pytest.approx(0.080 + 0.034, abs=0.0011)


def test_readiness_is_the_median_of_the_steps_unless_one_is_named(capsys, tmp_path):
    recording = Recording()
    for step, late in enumerate((50, 10, 12, 30, 14)):
        zero = 100 * step
        recording.submitted("b", zero)
        recording.submitted("a", zero + late)
        recording.bucket(["b"], zero, zero + 1, number=2 * step)
        recording.bucket(["a"], zero + late, zero + late + 6, number=2 * step + 1)
    path = recording.write(tmp_path / "t.json")

    def times(*words):
        said = json.loads(run(capsys, path, "--workers", 1, "--json", "-", *words)[1])
        return said["forward_seconds"], said["backward_seconds"]

    assert times() == pytest.approx((0.082, 0.014))  # of the last three
    assert times("--step", 3) == pytest.approx((0.082, 0.030))
    assert times("--forward-ms", 5, "--backward-ms", 7) == pytest.approx((0.005, 0.007))
    rated = times("--rate", 100, "--batch", 3)
    assert rated == pytest.approx((0.010, 0.020))


def test_pictures_and_traces_of_it(capsys, tmp_path):
    path = planned_steps(5).write(tmp_path / "t.json")
    plot, picture, trace = (tmp_path / name for name in ("plot.svg", "step.svg", "trace.json"))
    words = ("--plot", plot, "--picture", picture, "--trace", trace)
    code, out, err = run(capsys, path, *SLOW, "--workers", "1,2", *words)
    assert code == 0, err
    assert "t.json, as recorded: 3 gradients, 28 KB" in out
    for drawn in (plot, picture):
        assert ElementTree.parse(drawn).getroot().tag.endswith("svg")
    spans = {event["name"]: event for event in json.loads(trace.read_text()) if "ts" in event}
    assert spans["forward"]["dur"] == pytest.approx(80_000)
    assert spans["backward conv1"]["ts"] == pytest.approx(82_000)
    assert spans["backward conv1"]["dur"] == pytest.approx(10_000)


def test_what_it_cannot_say_is_asked_for(capsys, tmp_path):
    path = planned_steps(1).write(tmp_path / "t.json")
    code, _, err = run(capsys, path, "--workers", 2)
    assert code == 2 and "--forward-ms" in err and "t.json" in err
    assert run(capsys, path, "--workers", 2, "--forward-ms", 3)[0] == 0


@pytest.mark.parametrize(
    "words, said",
    [
        (["--step", 9], "there is no step 9; the recording has 2"),
        (["--tflops", 3], "--tflops: a file says itself"),
    ],
)
def test_options_that_do_not_fit_are_named(capsys, tmp_path, words, said):
    path = planned_steps(2).write(tmp_path / "t.json")
    code, _, err = run(capsys, path, *words)
    assert code == 2 and said in err


def test_a_recording_without_gradients_is_refused(capsys, tmp_path):
    recording = Recording()
    recording._add("B", "w", 1, name="BROADCAST")
    recording._add("E", "w", 2, args={"dtype": "float32", "shape": "[4]"})
    path = recording.write(tmp_path / "t.json")
    code, _, err = run(capsys, path, "--workers", 2)
    assert code == 2 and "step 0 has no allreduce" in err
    path.write_text("[]")
    assert "no finished operation in 0 events" in run(capsys, path, "--workers", 2)[2]
