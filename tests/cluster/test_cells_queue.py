"""Cells side by side: which may, and what becomes of those that fail or are told to end."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cells  # noqa: E402
import cells_queue  # noqa: E402
from cells_queue import Need, may_start  # noqa: E402
from ssh_hosts import PORT  # noqa: E402

HERE = Path(__file__).parent
_FEW = Need(1 << 30, alone=False)


def test_cells_run_beside_each_other_as_far_as_number_and_memory_allow() -> None:
    assert may_start(_FEW, [_FEW], 2, 2 << 30)
    assert not may_start(_FEW, [_FEW, _FEW], 2, 9 << 30)
    assert not may_start(_FEW, [_FEW], 2, (2 << 30) - 1)


def test_what_measures_the_processor_runs_alone() -> None:
    alone = Need(1, alone=True)
    assert not may_start(alone, [_FEW], 4, 9 << 30)
    assert not may_start(_FEW, [alone], 4, 9 << 30)


def test_a_cell_larger_than_the_machine_is_tried_alone() -> None:
    assert may_start(Need(9 << 30, alone=False), [], 1, 1 << 30)


def test_a_cell_knows_what_it_needs() -> None:
    large = cells.Cell.named("8x2-100mbit-bert_base")
    assert large == cells.Cell(8, 2, "100mbit", "bert_base")
    assert 13e9 < large.need().memory < 21e9
    assert not large.need().alone
    assert cells.Cell(2, 1, "1gbit", "allreduce").need().alone


@dataclass(frozen=True)
class _Short:
    """A cell that is a few words of Python."""

    name: str
    program: str

    def about(self) -> str:
        return self.name

    def need(self) -> Need:
        return _FEW


def _start(cell: _Short, out: Path, log: IO[str]) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", cell.program, str(out)]
    return subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)


# Ends when the other one has been started too, or else says that it never was.
_MEET = """
import pathlib, sys, time
mine, other = (pathlib.Path(sys.argv[1], name) for name in ({0!r}, {1!r}))
mine.touch()
deadline = time.monotonic() + 30
while not other.exists():
    if time.monotonic() > deadline: sys.exit("nobody came")
    time.sleep(0.01)
"""


def test_one_that_fails_is_named_and_the_others_are_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = [
        _Short("broken", "print('the reason'); raise SystemExit(3)"),
        _Short("a", _MEET.format("a", "b")),
        _Short("b", _MEET.format("b", "a")),
    ]
    assert cells_queue.run_all(list(some), tmp_path, 2, _start) == 1
    said = capsys.readouterr().out
    assert "broken: failed with code 3" in said and "    the reason" in said
    assert "3 of 3" in said and "a: done" in said and "b: done" in said


def test_nothing_is_left_running_when_told_to_end(tmp_path: Path) -> None:
    def interrupt(cell: _Short, out: Path, log: IO[str]) -> subprocess.Popen[bytes]:
        if cell.name == "second":
            raise KeyboardInterrupt
        processes.append(_start(cell, out, log))
        return processes[-1]

    processes: list[subprocess.Popen[bytes]] = []
    sleeping = [_Short("first", "import time; time.sleep(60)"), _Short("second", "")]
    with pytest.raises(KeyboardInterrupt):
        cells_queue.run_all(list(sleeping), tmp_path, 2, interrupt)
    assert [one.returncode for one in processes] == [-15]


@pytest.mark.skipif(cells.why_not() is not None, reason=str(cells.why_not()))
def test_hosts_of_two_programs_do_not_meet() -> None:
    """The same addresses in both; when the hosts of one go, those of the other can be reached."""
    with cells.SshHosts(1) as hosts:
        words = [sys.executable, str(HERE / "hosts_command.py"), "--hosts", "2"]
        other = subprocess.run(
            [*words, "--", sys.executable, "-c", "print('from', 'another')"],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert "from another" in other.stdout
        options = ["-p", str(PORT), "-i", hosts.key, "-o", "StrictHostKeyChecking=no"]
        done = hosts.run(0, ["ssh", *options, hosts.address(0), "echo", "still here"])
        assert done.stdout == "still here\n", done.stderr
