"""The bars for allreduces between hosts: which are held, which are missed, and by which sizes."""

from __future__ import annotations

import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cells_bars  # noqa: E402
import peers_bars  # noqa: E402

from horovodx.torch_bench.allreduce import sizes  # noqa: E402

TCP = 100e6  # bytes a second: 1 MiB between two hosts takes 10.49 ms


def _row(count: int, ours: float, gloo: float, mpi: float) -> dict[str, Any]:
    return {"bytes": count, "HorovodX": ours, "gloo": gloo, "mpi4py": mpi}


GOOD = [
    _row(4, 1.4e-4, 1e-3, 1e-4),
    _row(16 << 10, 3.0e-4, 1e-3, 2e-4),
    _row(64 << 10, 9.0e-4, 5e-4, 5e-4),  # between the bars
    _row(256 << 10, 4.0e-3, 4e-3, 5e-3),
    _row(1 << 20, 11.0e-3, 14e-3, 12e-3),
]


def _said(rows: list[dict[str, Any]]) -> list[str]:
    return [str(bar) for bar in peers_bars.judge({"tcp": TCP, "seconds": rows}, hosts=2)]


def test_bars_that_are_held() -> None:
    assert _said(GOOD) == [
        "from 256 KiB on at least as fast as the best of gloo and MPI, "
        "worst of 2 1.00x its time at 256 KiB: held",
        "from 1 MiB on 95% of the link's limit, worst of 1 1.05x the limit's time at 1 MiB: held",
        "up to 16 KiB within 1.5x of MPI, worst of 2 1.50x its time at 16 KiB: held",
    ]
    assert cells_bars.all_held(peers_bars.judge({"tcp": TCP, "seconds": GOOD}, 2))


def test_a_large_one_slower_than_the_better_peer_is_missed() -> None:
    slow = [*GOOD[:3], _row(256 << 10, 4.12e-3, 9e-3, 4e-3), GOOD[4]]
    assert "missed by 3 points (256 KiB)" in _said(slow)[0]
    assert not cells_bars.all_held(peers_bars.judge({"tcp": TCP, "seconds": slow}, 2))


def test_one_that_leaves_the_link_idle_is_missed() -> None:
    slow = [*GOOD[:4], _row(1 << 20, 12.0e-3, 14e-3, 13e-3), _row(4 << 20, 60e-3, 70e-3, 70e-3)]
    held, missed, _ = _said(slow)
    assert held.endswith("held")
    assert missed.endswith("worst of 2 1.43x the limit's time at 4 MiB: "
                           "missed by 38 points (1 MiB, 4 MiB)")  # fmt: skip


def test_a_small_one_far_behind_mpi_is_missed() -> None:
    assert "missed by 50 points (4 B)" in _said([_row(4, 2e-4, 1e-3, 1e-4), *GOOD[1:]])[2]


def test_what_is_no_number_is_missed() -> None:
    assert ": missed by nan points (1 MiB)" in _said([_row(1 << 20, float("nan"), 1.0, 1.0)])[1]


def test_what_was_not_run_is_not_held() -> None:
    assert [line.rsplit(": ")[1] for line in _said(GOOD[:1])] == [
        "not measured", "not measured", "held",
    ]  # fmt: skip
    assert not cells_bars.all_held(peers_bars.judge({"tcp": TCP, "seconds": []}, 2))


def test_several_rounds_are_one_by_median() -> None:
    rounds = [
        {"tcp": t, "ranks": 4, "seconds": [_row(4, t, 2 * t, 3 * t)]} for t in (1.0, 9.0, 2.0)
    ]
    assert peers_bars.merged(rounds) == {
        "tcp": 2.0, "ranks": 4, "seconds": [_row(4, 2.0, 4.0, 6.0)],
    }  # fmt: skip


def test_the_largest_size_is_measured_whether_or_not_it_is_one_of_the_steps() -> None:
    assert sizes(4, 64, 4) == [4, 16, 64]
    assert sizes(4, 100, 4) == [4, 16, 64, 100]
    assert sizes(4, 4, 4) == [4]
    assert sizes(4, 32 << 20, 4)[-2:] == [16 << 20, 32 << 20]
