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
import cells_table  # noqa: E402
import peers  # noqa: E402
import predict  # noqa: E402

HERE = Path(__file__).parent


def _found(rate: str, **ways: float) -> dict[str, object]:
    return {
        "cell": {"hosts": 2, "ranks": 1, "rate": rate, "workload": "small"},
        "ways": {w: {"seconds": [s, 9.0, s], "control_messages": [0.0]} for w, s in ways.items()},
    }


def test_bars_take_the_worst_cell_and_the_mean_of_shaped_ones() -> None:
    found = [
        _found("1gbit", wfbp=4.0, fusion=2.0, optimal=1.0, buckets=2.0, gloo=3.0),
        _found("100mbit", wfbp=1.0, fusion=2.0, optimal=1.0, buckets=0.5, gloo=3.0),
        _found("none", wfbp=8.0, fusion=8.0, optimal=4.4, buckets=4.0, gloo=1.0),
    ]
    lines = cells_table.bars(found)
    assert lines == [
        "optimal / best other schedule, worst of 3 cells: 2.000",
        "wfbp / optimal, geometric mean of 2 shaped cells: 2.00",
        "buckets / optimal, geometric mean of 2 shaped cells: 1.00",
        "gloo / optimal, geometric mean of 2 shaped cells: 3.00",
    ]


def test_large_allreduces_are_shown_against_the_links_limit() -> None:
    cell = {"hosts": 4, "ranks": 2, "rate": "1gbit", "workload": "allreduce"}
    found = {
        "cell": {**cell, "plain_tcp_bytes_per_second": 100e6},
        "rows": [{"bytes": 1 << 20, "seconds": 2 * 1.5 * (1 << 20) / 100e6}],
    }
    assert "1 MiB | 31.5 | 15.7 | 50% |" in cells_table.text([found])


@pytest.mark.parametrize("link", [(50e-6, 119e6), (400e-6, 11.9e6)])
def test_a_link_is_found_from_what_allreduces_on_it_take(link: tuple[float, float]) -> None:
    sizes = (4096, 1 << 20, 64 << 20)
    rows = [{"bytes": b, "seconds": predict.allreduce_seconds(*link, b)} for b in sizes]
    latency, bandwidth = predict.link_of(rows)
    assert math.isclose(latency, link[0], rel_tol=0.01)
    assert math.isclose(bandwidth, link[1], rel_tol=0.01)


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
