"""Mistakes that are told at the call, to the caller alone."""

from typing import Any, Callable

import pytest
import torch

import horovod.torch as hvd

ALL: dict[str, Callable[..., Any]] = {
    "allreduce": hvd.allreduce,
    "allreduce_": hvd.allreduce_,
    "allreduce_async": hvd.allreduce_async,
    "allreduce_async_": hvd.allreduce_async_,
    "grouped_allreduce": lambda t, **k: hvd.grouped_allreduce([t], **k),
    "grouped_allreduce_": lambda t, **k: hvd.grouped_allreduce_([t], **k),
    "allgather": hvd.allgather,
    "allgather_async": hvd.allgather_async,
    "grouped_allgather": lambda t, **k: hvd.grouped_allgather([t], **k),
    "broadcast": lambda t, **k: hvd.broadcast(t, 0, **k),
    "broadcast_": lambda t, **k: hvd.broadcast_(t, 0, **k),
    "broadcast_async_": lambda t, **k: hvd.broadcast_async_(t, 0, **k),
    "alltoall": hvd.alltoall,
    "alltoall_async": hvd.alltoall_async,
    "reducescatter": hvd.reducescatter,
    "reducescatter_async": hvd.reducescatter_async,
    "grouped_reducescatter": lambda t, **k: hvd.grouped_reducescatter([t], **k),
}
by_form = pytest.mark.parametrize("form", ALL.values(), ids=ALL)
KINDS = {
    "Allreduce": ALL["allreduce"],
    "Allgather": ALL["allgather"],
    "Broadcast": ALL["broadcast"],
    "Alltoall": ALL["alltoall"],
    "Reducescatter": ALL["reducescatter"],
    "Barrier": lambda t, **k: hvd.barrier(**k),
}
by_kind = pytest.mark.parametrize("kind", KINDS)


@by_form
def test_types_that_are_not_taken(form: Callable[..., Any], size: int) -> None:
    for dtype in (torch.complex64, torch.complex128):
        tensor = torch.ones(size, dtype=dtype)
        with pytest.raises(ValueError, match=f"Tensor type {tensor.type()} is not supported."):
            form(tensor)


@by_form
def test_tensors_with_gaps(form: Callable[..., Any], size: int) -> None:
    with pytest.raises(ValueError, match="Tensor is required to be contiguous."):
        form(torch.ones(4 * size)[::2])
    with pytest.raises(ValueError, match="Tensor is required to be contiguous."):
        form(torch.ones(2 * size, 3).t())


@by_form
def test_what_is_no_tensor(form: Callable[..., Any]) -> None:
    for wrong in ([1.0, 2.0], 3.0, None):
        with pytest.raises((ValueError, TypeError, AttributeError)):
            form(wrong)


@by_kind
def test_a_set_that_is_not_registered(kind: str, size: int) -> None:
    unknown = hvd.ProcessSet([0])
    with pytest.raises(
        ValueError, match=f"{kind}: Process set provided does not exist, or has not been registered"
    ):
        KINDS[kind](torch.ones(size), process_set=unknown)


@pytest.mark.parametrize("form", [hvd.broadcast, hvd.broadcast_, hvd.broadcast_async])
def test_a_root_that_is_not_there(form: Callable[..., Any], size: int) -> None:
    for root in (size, size + 7, -1):
        with pytest.raises(ValueError, match=f"broadcast received invalid root rank {root}"):
            form(torch.ones(3), root)


def test_splits(size: int) -> None:
    def refused(match: str, tensor: torch.Tensor, splits: Any = None) -> None:
        for form in (hvd.alltoall, hvd.alltoall_async):
            with pytest.raises(ValueError, match=match):
                form(tensor, splits)

    rows = torch.ones(2 * size, 3)
    refused("expects a 1D splits tensor", rows, torch.ones(size, 1, dtype=torch.int32))
    refused("32-bit integer elements", rows, torch.ones(size, dtype=torch.int64))
    refused("32-bit integer elements", rows, torch.ones(size, dtype=torch.float32))
    refused("Sum of splits entries is greater", rows, [3] * size)
    refused("does not equal number of workers", rows, [1] * (size + 1))
    refused("does not equal number of workers", rows, [1] * (size - 1))
    refused("does not equal number of workers", rows, [])
    refused("does not equal number of workers", rows, torch.ones(0, dtype=torch.int32))
    with pytest.raises(ValueError):
        hvd.alltoall(rows, [3, -1] + [0] * (size - 2) if size > 1 else [-1])
    if size > 1:
        refused("not an even multiple of the number of workers", torch.ones(2 * size + 1))


def test_groups_on_two_devices() -> None:
    here, nowhere = torch.ones(2), torch.ones(2, device="meta")
    for form in (hvd.grouped_allreduce, hvd.grouped_allreduce_, hvd.grouped_allgather):
        with pytest.raises(
            hvd.HorovodInternalError, match="Tensors in list must be on same device"
        ):
            form([here, nowhere])


def test_an_operation_that_is_none() -> None:
    for op in (6, -1, 1000):
        with pytest.raises((ValueError, hvd.HorovodInternalError)):
            hvd.allreduce(torch.ones(2), op=op)


def test_a_mistake_of_one_rank_alone_harms_nobody(rank: int, size: int) -> None:
    """The caller is told, nothing is submitted, and the ranks still meet in the next call."""
    if rank == size - 1:
        with pytest.raises(ValueError):
            hvd.allreduce(torch.ones(4)[::2], name="alone")
        with pytest.raises(ValueError):
            hvd.broadcast(torch.ones(4), size, name="alone")
        with pytest.raises(ValueError):
            hvd.allreduce(torch.ones(4, dtype=torch.complex64), name="alone")
    assert hvd.allreduce(torch.ones(2), name="alone", op=hvd.Sum).tolist() == [size] * 2


def test_joining_twice_at_a_time_is_not_possible_by_hand(size: int) -> None:
    assert 0 <= hvd.join() < size
    assert 0 <= hvd.join() < size
