"""hvdx-sim as it is called: what it says, what it writes, and what it does with nonsense."""

import json
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from sim_command import run, steps

# The worked example of horovodx/schedule/README.md in milliseconds and kilobytes: on two workers an
# allreduce takes 3 ms and 1 ms a kilobyte.
WORKED = {
    "name": "worked",
    "forward_ms": 4,
    "gradients": [
        {"name": "one", "bytes": 1000, "backward_ms": 2},
        {"name": "two", "bytes": 1000, "backward_ms": 2},
        {"name": "three", "bytes": 8000, "backward_ms": 2},
    ],
}
SLOW = ("--net", "1.5ms,1MB/s", "--reduce", "1000TB/s", "--one-window", "--algorithm", "ring")


@pytest.fixture
def worked(tmp_path):
    path = tmp_path / "worked.json"
    path.write_text(json.dumps(WORKED))
    return path


def test_worked_example(capsys, worked):
    found = steps(capsys, worked, *SLOW, "--workers", 2, "--schedule", "all")
    ends = {schedule: 1e3 * step["seconds"] - 4 for (schedule, _), step in found.items()}
    known = {"wfbp": 21, "fusion": 18, "buckets": 19, "mgwfbp": 19, "optimal": 18}
    assert ends == pytest.approx(known)
    buckets = found["optimal", 2]["buckets"]
    assert [bucket["gradients"] for bucket in buckets] == [["three"], ["two", "one"]]
    assert buckets[1]["waited_for"] == "one"


def test_one_to_a_hundred_thousand_workers(capsys):
    found = steps(capsys, "googlenet", "--ranks-per-host", 8, "--net", "20us,100Gbit/s")
    workers = [count for _, count in found]
    assert workers[0] == 1 and workers[-1] == 100_000 and workers == sorted(workers)
    assert found["optimal", 1]["speed_up"] == pytest.approx(1)
    for step in found.values():
        assert 0 < step["efficiency"] < 1 + 1e-9
        assert step["speed_up"] == pytest.approx(step["workers"] * step["efficiency"])


def test_optimal_is_least_everywhere(capsys):
    for net in ("10us,100Gbit/s", "50us,1Gbit/s"):
        words = ("resnet50", "--workers", "2,16,256", "--schedule", "all", "--net", net)
        found = steps(capsys, *words, "--algorithm", "best")
        for (_, workers), step in found.items():
            assert step["seconds"] >= found["optimal", workers]["seconds"] * (1 - 1e-12)


def test_splitting_hides_more(capsys):
    words = ("resnet50", "--workers", 16, "--algorithm", "ring", "--one-window")
    whole = steps(capsys, *words)["optimal", 16]["seconds"]
    split = steps(capsys, *words, "--split")["optimal", 16]["seconds"]
    assert split < whole


def test_both_halves_of_a_split_allreduce_are_told(capsys, worked):
    words = (worked, *SLOW, "--workers", 2)
    assert "gather_start_seconds" not in steps(capsys, *words)["optimal", 2]["buckets"][0]
    buckets = steps(capsys, *words, "--split")["optimal", 2]["buckets"]
    halves = max(bucket["end_seconds"] for bucket in buckets)
    # First layers first, one after another, after the last reduce-scatter.
    for bucket in reversed(buckets):
        assert bucket["gather_start_seconds"] == pytest.approx(halves)
        took = bucket["end_seconds"] - bucket["start_seconds"]
        assert bucket["gather_end_seconds"] == pytest.approx(halves + took)
        halves = bucket["gather_end_seconds"]


def test_numbers_of_workers_that_double(capsys, worked):
    found = steps(capsys, worked, "--workers", "1-12,20")
    assert [count for _, count in found] == [1, 2, 4, 8, 12, 20]


def test_table(capsys, worked):
    code, out, _ = run(capsys, worked, *SLOW, "--workers", "1,2")
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    # Alone nothing takes any time, so one bucket is as good as three.
    assert ["1", "10.00", "0.00", "1", "1.00", "100.0", "%", "100.0"] in rows
    assert ["2", "22.00", "12.00", "2", "0.91", "45.5", "%", "90.9"] in rows


def test_pictures_and_traces(capsys, worked, tmp_path):
    plot, picture, trace = (tmp_path / name for name in ("plot.svg", "step.svg", "trace.json"))
    words = ("--plot", plot, "--picture", picture, "--trace", trace)
    for extra in ((), ("--split",)):
        code, _, err = run(capsys, worked, *SLOW, "--workers", "1,2", *words, *extra)
        assert code == 0, err
        for path in (plot, picture):
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
    assert "three" in picture.read_text()
    run(capsys, worked, *SLOW, "--workers", "2", "--trace", trace)
    events = json.loads(trace.read_text())
    spans = {event["name"]: event for event in events if event["ph"] == "X"}
    assert spans["forward"]["dur"] == pytest.approx(4000)
    assert spans["backward three"]["ts"] == pytest.approx(4000)
    sent = [event for event in events if event["name"] == "ALLREDUCE"]
    assert [event["args"]["tensors"] for event in sent] == [["three"], ["two", "one"]]
    assert sent[-1]["ts"] + sent[-1]["dur"] == pytest.approx(22000)


def test_pictures_as_png(capsys, worked, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    plot, picture = (tmp_path / name for name in ("plot.png", "step.png"))
    words = ("--workers", "1,2", "--plot", plot, "--picture", picture)
    code, _, err = run(capsys, worked, *SLOW, *words)
    assert code == 0, err
    for path in (plot, picture):
        with image.open(path) as opened:
            colors = {color for _, color in opened.getcolors(1 << 24)}
            assert opened.format == "PNG" and opened.width >= 1600
        first_schedule_or_bucket = (0x44, 0x77, 0xAA)
        assert {(255, 255, 255), first_schedule_or_bucket} < colors
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = run(capsys, worked, *SLOW, *words)
    assert code == 2 and "pip install 'horovodx[png]'" in err


def test_times_of_a_worker(capsys):
    one = ("resnet50", "--workers", 1)
    rated = steps(capsys, *one, "--rate", 100, "--batch", 50)
    assert rated["optimal", 1]["seconds"] == pytest.approx(0.5)
    given = steps(capsys, *one, "--forward-ms", 10, "--backward-ms", 30)
    assert given["optimal", 1]["seconds"] == pytest.approx(0.04)
    slow = steps(capsys, *one, "--tflops", 1)["optimal", 1]["seconds"]
    assert slow == pytest.approx(10 * steps(capsys, *one)["optimal", 1]["seconds"])


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "needs a model"),
        (["resnet51"], "no model 'resnet51'; there are resnet50"),
        (["nowhere.json"], "nowhere.json: No such file"),
        (["resnet50", "--workers", "8,x"], "--workers: 'x'"),
        (["resnet50", "--workers", "0"], "--workers: '0'"),
        (["resnet50", "--workers", "12", "--ranks-per-host", "8"], "12 is no multiple of 8"),
        (["resnet50", "--net", "50us"], "--net: '50us' is not a latency and a bandwidth"),
        (["resnet50", "--net", "50,10Gbit/s"], "--net: '50' has no unit of time"),
        (["resnet50", "--net", "50us,10G"], "--net: '10G' has no unit of bandwidth"),
        (["resnet50", "--net", "50us,0Gbit/s"], "'0Gbit/s' is no bandwidth"),
        (["resnet50", "--schedule", "fastest"], "no schedule 'fastest'"),
        (["resnet50", "--algorithm", "rings"], "no allreduce algorithm 'rings'"),
        (["resnet50", "--algorithm", "ring 1"], "'ring 1' is no name"),
        (["resnet50", "--allreduce", "circle"], "circle"),
        (["resnet50", "--threshold", "big"], "--threshold: 'big'"),
        (["resnet50", "--bucket", "1parsec"], "--bucket: '1parsec' has no unit of size"),
        (["resnet50", "--batch", "1.5"], "--batch: '1.5'"),
        (["resnet50", "--plot", "plot.jpg"], "'plot.jpg' ends neither in .svg nor in .png"),
        (["resnet50", "--workers", "2", "--json", "/nowhere/a"], "/nowhere/a: No such file"),
        (["--from", "nowhere.json"], "nowhere.json: No such file"),
        (["--from", "a.json", "--workers", "2"], "not with workers"),
        (["resnet50", "--step", "1"], "--step: goes with a timeline"),
        (["resnet50", "--workers", "8-4"], "--workers: '8-4' ends before it begins"),
        (["resnet50", "--workers", "8-"], "--workers: ''"),
    ],
)
def test_nonsense_is_named(capsys, words, said):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "needs an object with a list 'gradients'"),
        ("[]", "no finished operation in 0 events"),
        ('{"gradients": []}', "gradients: is empty"),
        ('{"gradients": [1]}', "gradients[0]: 1 is not an object"),
        ('{"gradients": [{"bytes": 1}]}', "gradients[0]: needs 'backward_ms'"),
        ('{"gradients": [{"backward_ms": 1}]}', "needs either 'bytes' or 'elements'"),
        ('{"gradients": [{"bytes": "4", "backward_ms": 1}]}', "bytes: '4' is not a number"),
        ('{"gradients": [{"bytes": 1.5, "backward_ms": 1}]}', "1.5 is not a number of bytes"),
        ('{"gradients": [{"bytes": NaN, "backward_ms": 1}]}', "nan is not a number"),
        ('{"gradients": [{"bytes": 4, "backward_ms": -1}]}', "backward_ms: -1 is not"),
        ('{"gradients": [{"bytes": 4, "backward_ms": 1, "x": 1}]}', "no field 'x'"),
        ('{"batch": 0, "gradients": [{"bytes": 4, "backward_ms": 1}]}', "batch: 0 is not"),
    ],
)
def test_broken_model_files_are_named(capsys, tmp_path, text, said):
    path = tmp_path / "model.json"
    path.write_text(text)
    code, _, err = run(capsys, path, "--workers", 2)
    assert code == 2
    assert said in err
    assert str(path) in err


def test_the_installed_command():
    done = subprocess.run(["hvdx-sim", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "hvdx-sim resnet50" in done.stdout
