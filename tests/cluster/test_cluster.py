"""The matrix of cells: its arithmetic, and one small cell for real."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cells  # noqa: E402
import cells_bars  # noqa: E402
import cells_table  # noqa: E402
import peers  # noqa: E402
import predict  # noqa: E402

from horovodx.sim.core import Cluster  # noqa: E402

HERE = Path(__file__).parent


def _found(rate: str, **ways: float) -> dict[str, object]:
    return {
        "cell": {"hosts": 2, "ranks": 1, "rate": rate, "workload": "small"},
        "ways": {w: {"seconds": [s, 9.0, s], "control_messages": [0.0]} for w, s in ways.items()},
    }


def _sums(rate: str, **reached: float) -> dict[str, object]:
    """Allreduces between two hosts, by the share of plain TCP that they reach: b1048576=0.9."""
    sizes = {int(size[1:]): share for size, share in reached.items()}
    rows = [{"bytes": b, "seconds": b / 100e6 / share} for b, share in sizes.items()]
    cell = {"hosts": 2, "ranks": 1, "rate": rate, "workload": "allreduce"}
    return {"cell": {**cell, "plain_tcp_bytes_per_second": 100e6}, "rows": rows}


def _said(*found: dict[str, object]) -> list[str]:
    return [str(bar) for bar in cells_bars.judge(list(found))]


GOOD = (
    _found("1gbit", wfbp=1.4, fusion=2.0, optimal=1.0, buckets=1.2, gloo=3.0),
    _found("none", wfbp=1.0, fusion=1.0, optimal=1.02, buckets=1.0),
    _sums("1gbit", b65536=0.3, b1048576=0.96, b4194304=0.97),
)


def test_bars_that_are_held() -> None:
    assert _said(*GOOD) == [
        "optimal at most 3% slower than the best other schedule, worst of 2 cells 1.020: held",
        "wfbp / optimal at least 1.3, geometric mean of shaped cells, 1.40 of 1: held",
        "buckets / optimal at least 1.1, geometric mean of shaped cells, 1.20 of 1: held",
        "allreduces from 1 MiB on reach 95% of plain TCP, 1gbit, least of 2 96.0%: held",
        "no control messages in steady state: held",
    ]
    assert cells_bars.all_held(cells_bars.judge(list(GOOD)))


@pytest.mark.parametrize(
    "worse, said",
    [
        (
            _found("100mbit", wfbp=4.0, buckets=2.0, mgwfbp=1.0, optimal=1.05, gloo=0.5),
            "worst of 3 cells 1.050: missed by 2.0 points in 2 x 1, 100mbit, small (1 cells miss)",
        ),
        (_found("100mbit", wfbp=1.1, buckets=9.0, optimal=1.0), "1.24 of 2: missed by 0.059"),
        (_found("100mbit", wfbp=9.0, buckets=1.0, optimal=1.0), "1.10 of 2: missed by 0.0046"),
        (
            _sums("none", b1048576=0.95, b2097152=0.9),
            "unshaped, least of 2 90.0%: missed by 5.0 points in 2 x 1, unshaped, allreduce, 2 MiB",
        ),
        (
            _sums("100mbit", b1048576=math.nan),
            "100mbit, least of 1 nan%: missed by nan points",
        ),
    ],
)
def test_a_bar_that_is_missed_says_by_how_much_and_where(
    worse: dict[str, object], said: str
) -> None:
    missed = [line for line in _said(*GOOD, worse) if "missed" in line]
    assert said in missed[0]
    assert not cells_bars.all_held(cells_bars.judge([*GOOD, worse]))


def test_control_messages_in_any_turn_of_any_schedule_are_a_miss() -> None:
    talks = _found("1gbit", wfbp=2.0, buckets=2.0, optimal=1.0)
    talks["ways"]["buckets"]["control_messages"] = [0.0, 0.5]  # type: ignore[index]
    said = "no control messages in steady state: missed by 0.5 a step in 2 x 1, 1gbit, small"
    assert _said(*GOOD, talks)[-1].startswith(said)


def test_what_was_not_measured_is_neither_held_nor_missed() -> None:
    bars = cells_bars.judge([])
    assert all(str(bar).endswith(": not measured") for bar in bars) and len(bars) == 5
    assert not cells_bars.all_held(bars)
    assert cells_bars.all_held(cells_bars.judge([_sums("1gbit", b1048576=0.96)]))


def test_strict_is_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["cells.py", "--out", str(tmp_path), "--show"]

    def code(*more: str) -> int:
        monkeypatch.setattr(sys, "argv", [*words, *more])
        return cells.main()

    monkeypatch.setattr(cells, "leave_when_told", lambda: None)
    assert (code(), code("--strict")) == (0, 1)
    for number, found in enumerate(GOOD):
        (tmp_path / f"{number}.json").write_text(json.dumps(found))
    assert (code(), code("--strict")) == (0, 0)
    slow = _found("none", wfbp=1.0, fusion=1.0, optimal=1.04)
    (tmp_path / "slow.json").write_text(json.dumps(slow))
    assert (code(), code("--strict")) == (0, 1)


def test_tables_show_ways_and_the_links_limit() -> None:
    shown = cells_table.text([*GOOD, _sums("100mbit", b1048576=0.5)])
    assert "small | 1,400 | 2,000 |  | 1,000 | 1,200 | 3,000 | 0.833 | 0.0 |" in shown
    assert "gloo / optimal, geometric mean of 1 shaped cells: 3.00" in shown
    assert "| 2 x 1, 100mbit | 1 MiB | 21.0 | 10.5 | 50% |" in shown
    assert "| 2 x 1, 1gbit | 64 KiB |" in shown


@pytest.mark.parametrize("link", [(50e-6, 119e6), (400e-6, 11.9e6)])
def test_a_link_is_found_from_what_allreduces_on_it_take(link: tuple[float, float]) -> None:
    sizes = (4096, 1 << 20, 64 << 20)
    cluster = Cluster(net=link, reduce=1e18)
    rows = [{"bytes": b, "seconds": predict.allreduce_seconds([cluster], b)[0]} for b in sizes]
    latency, bandwidth = predict.link_of(rows)
    assert math.isclose(latency, link[0], rel_tol=0.01)
    assert math.isclose(bandwidth, link[1], rel_tol=0.01)


def test_what_cannot_be_seen_inside_a_host_stays_as_usual() -> None:
    """Faster than with hosts that cost nothing, and slower than any host could make it."""
    net, usual = (1e-3, 1e6), Cluster().host
    small, large = {"bytes": 4096, "seconds": 10.0}, {"bytes": 4 << 20, "seconds": 1.0}
    assert predict.host_of([small, large], net) == pytest.approx(usual)


def test_predictions_are_compared_and_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From files that the simulator itself could have measured, and then 40 % slower ones."""
    true = Cluster(host=(20e-6, 2e9), net=(50e-6, 1e9), reduce=1e18)
    sizes = (4096, 64 << 20)

    def write(slower: float) -> None:
        for ranks in (1, 2):
            took = [predict.allreduce_seconds([true], b, ranks)[0] for b in sizes]
            rows = [{"bytes": b, "seconds": seconds} for b, seconds in zip(sizes, took)]
            cell = {"hosts": 2, "ranks": ranks, "rate": "none", "workload": "allreduce"}
            (tmp_path / f"{ranks}.json").write_text(json.dumps({"cell": cell, "rows": rows}))
        cell = {"hosts": 4, "ranks": 2, "rate": "none", "workload": "resnet50"}
        step = predict.predicted(cells.Cell(4, 2, "none", "resnet50"), true, ["wfbp", "optimal"])
        ways = {w: {"seconds": [t * slower]} for w, t in zip(("wfbp", "optimal"), step)}
        (tmp_path / "s.json").write_text(json.dumps({"cell": cell, "ways": ways}))

    write(1.0)
    assert predict.main([str(tmp_path), "--strict"]) == 0
    said = capsys.readouterr().out
    fitted = predict.clusters([json.loads(f.read_text()) for f in tmp_path.glob("*.json")])
    assert fitted["none"].net == pytest.approx(true.net, rel=0.01)
    assert fitted["none"].host == pytest.approx(true.host, rel=0.01)
    assert "median error at most 15%, 0.0% of 2: held" in said
    write(1.4)
    assert predict.main([str(tmp_path)]) == 0
    assert predict.main([str(tmp_path), "--strict"]) == 1
    assert "28.6% of 2: missed by 13.6 points" in capsys.readouterr().out


def test_predictions_of_nothing_are_not_close() -> None:
    assert predict.verdict([]) == (False, "median error at most 15%: not measured")
    assert predict.verdict([0.15])[0] and not predict.verdict([0.16, math.nan])[0]


def test_a_cell_of_long_steps_is_predicted_by_the_rules_it_runs_by() -> None:
    long, short = cells.Cell(2, 2, "100mbit", "bert_base"), cells.Cell(2, 2, "1gbit", "small")
    assert not long.measures() and short.measures()
    assert "HOROVODX_SELECTION=rules" in long.command(Path("x"))
    assert "HOROVODX_SELECTION=rules" not in short.command(Path("x"))


def test_a_small_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := cells.why_not():
        pytest.skip(reason)
    command = cells.Cell.command
    short = ["--turns", "1", "--warmup", "8", "--steps", "2", "--ways", "wfbp,optimal,gloo"]
    monkeypatch.setattr(cells.Cell, "command", lambda self, out: [*command(self, out), *short])
    cell = cells.Cell(2, 2, "1gbit", "small")
    cells.run(cell, tmp_path)
    found = json.loads((tmp_path / f"{cell.name}.json").read_text())
    assert (found["ranks"], found["hosts"]) == (4, 2)
    assert found["cell"]["plain_tcp_bytes_per_second"] > 1e6
    assert list(found["ways"]) == ["wfbp", "optimal", "gloo"]
    for way in found["ways"].values():
        assert len(way["seconds"]) == 2
        assert min(way["seconds"]) > 0.030  # forward and backward were waited for
    assert found["ways"]["wfbp"]["control_messages"] == [0.0]
    assert "2 x 2, 1gbit, small" in cells_table.text([found])


def test_peers_are_compared_with_the_better_one_and_the_link() -> None:
    row = {"bytes": 1 << 20, "HorovodX": 0.014, "gloo": 0.016, "mpi4py": 0.028}
    shown = peers.table({"tcp": 118e6, "seconds": [row]}, hosts=4)[-1]
    assert shown == "| 1,048,576 | 14.000 | 16.000 | 28.000 | 0.88 | 13.329 | 95% |"


@pytest.mark.skipif(cells.why_not() is not None, reason=str(cells.why_not()))
def test_hosts_go_when_the_program_is_told_to_end() -> None:
    words = [sys.executable, str(HERE / "hosts_command.py"), "sleep", "60"]
    program = subprocess.Popen(words, start_new_session=True, stderr=subprocess.DEVNULL)

    def hosts() -> list[str]:
        listed = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True)
        return [line for line in listed.stdout.splitlines() if f"hvdx{program.pid}n" in line]

    deadline = time.monotonic() + 30
    while len(hosts()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    program.terminate()
    assert program.wait(30) == 143
    assert not hosts()
