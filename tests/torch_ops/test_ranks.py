"""Several ranks: programs/ has what each of them does."""

from __future__ import annotations

import pathlib

import pytest
from ranks import run_ranks


@pytest.mark.parametrize("size", [2, 3])
def test_collectives(programs: pathlib.Path, size: int) -> None:
    run_ranks(programs / "collectives.py", size)


def test_collectives_in_a_compiled_graph(programs: pathlib.Path) -> None:
    run_ranks(programs / "compiled_collectives.py", 2)


def test_a_training_step_in_one_graph(programs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    run_ranks(programs / "training_step.py", 2, (str(tmp_path),))


def test_waiting_can_be_interrupted(programs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    run_ranks(programs / "interrupt.py", 2, (str(tmp_path),))
