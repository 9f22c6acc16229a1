"""A part of the matrix, each fault at least once; `run.py` runs all of it."""

from __future__ import annotations

import concurrent.futures
import shutil
import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from drill import Outcome, run_drill  # noqa: E402
from matrix import BETWEEN_HOSTS, MATRIX, MOMENTS, TRANSPORTS, Cell, cells  # noqa: E402
from support import ssh_hosts  # noqa: E402

_NO_HOSTS = ssh_hosts.why_not()
_NO_MPI = None if shutil.which("mpirun") else "mpirun is not installed"
_AT_A_TIME = 3  # they mostly wait


def _chosen() -> list[Cell]:
    """One moment of each fault over each transport, all moments in turn."""
    every = list(cells())
    found = []
    for row, fault in enumerate(MATRIX):
        for column, transport in enumerate(TRANSPORTS):
            mine = [c for c in every if (c.fault, c.transport) == (fault, transport)]
            if fault == "GIL held" and column:
                continue  # twenty seconds each
            if mine:
                found.append(mine[(row + column * (len(MOMENTS) // 2)) % len(mine)])
    return found


CELLS = _chosen()
Running = dict[Cell, "concurrent.futures.Future[Outcome]"]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """All of them, a few at a time."""
    with concurrent.futures.ThreadPoolExecutor(_AT_A_TIME) as pool:
        # The long ones first, so that no single one is left over at the end.
        order = sorted(CELLS, key=lambda cell: -cell.expect.within)
        yield {cell: pool.submit(run_drill, cell) for cell in order if not _why_not(cell)}


def _why_not(cell: Cell) -> str | None:
    without = [_NO_MPI] if cell.by_mpirun else []
    without += [_NO_HOSTS] if cell.fault in BETWEEN_HOSTS else []
    return next((reason for reason in without if reason), None)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_drill(cell: Cell, running: Running) -> None:
    if reason := _why_not(cell):
        pytest.skip(reason)
    outcome = running[cell].result()
    assert outcome.ok, "\n".join([*outcome.problems, outcome.output])


def test_the_matrix_has_no_hole() -> None:
    """Every fault at every moment has an expectation, or says why it has none."""
    for fault, row in MATRIX.items():
        assert set(row) == set(MOMENTS), fault
        assert any(cell.fault == fault for cell in CELLS), fault
