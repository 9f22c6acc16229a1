"""Nothing is left behind by many calls."""

from __future__ import annotations

import os
import pathlib

import pytest
import torch

from horovodx import torch_ops

pytestmark = pytest.mark.usefixtures("engine")

CALLS = int(os.environ.get("HVDX_LEAK_CALLS", "30000"))
NAME = "a name that is too long to be kept inside a string object " * 2


def resident_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def call_all(tensor: torch.Tensor, splits: torch.Tensor) -> int:
    """One call of each operator; returns how many."""
    ops = torch.ops.horovodx
    how = (NAME, 1, 1.0, 1.0, 0)
    ops.allreduce_wait(ops.allreduce_start(tensor, *how), tensor.shape, tensor.dtype)
    ops.allreduce(tensor, *how)
    ops.allreduce_(tensor, *how)
    ops.grouped_allreduce([tensor, tensor], *how)
    ops.allgather(tensor, NAME, 0)
    ops.broadcast(tensor, 0, NAME, 0)
    ops.alltoall(tensor, splits, NAME, 0)
    ops.reducescatter(tensor, *how)
    try:
        ops.allreduce(tensor, NAME, 1, 1.0, 1.0, 7)
    except RuntimeError:
        pass
    return 10


def test_resident_memory_stays() -> None:
    tensor, splits = torch.ones(4, 16), torch.tensor([4], dtype=torch.int32)
    for _ in range(CALLS // 30):  # the engine's own tables have grown by then
        call_all(tensor, splits)
    before, calls = resident_bytes(), 0
    while calls < CALLS:
        calls += call_all(tensor, splits)
    grown = resident_bytes() - before
    # Had every call leaked its name, that would be 120 bytes each.
    assert grown < 20 * calls, f"{grown} bytes in {calls} calls"


def test_tickets_of_a_failed_group_are_not_kept() -> None:
    before = torch_ops.count_in_flight()[0]
    with pytest.raises(RuntimeError):
        torch_ops.grouped_allreduce([torch.ones(2), torch.ones(2)], "x", process_set=7)
    assert torch_ops.count_in_flight()[0] == before
