"""Ranks that disagree: all of them are told the same, and the engine goes on."""

from typing import Any, Callable

import pytest
import torch

import horovod.torch as hvd
from horovodx import _horovodx

# What rank 0 to n-2 do, what the last one does, and what all of them are told.
Case = tuple[Callable[[str], Any], Callable[[str], Any], str]


def reduce(tensor: torch.Tensor, **how: Any) -> Callable[[str], Any]:
    how.setdefault("op", hvd.Sum)
    return lambda name: hvd.allreduce_async(tensor.clone(), name=name, **how)


def gather(*shape: int, dtype: torch.dtype = torch.float32) -> Callable[[str], Any]:
    return lambda name: hvd.allgather_async(torch.ones(*shape, dtype=dtype), name=name)


def give(tensor: torch.Tensor, root: int = 0) -> Callable[[str], Any]:
    return lambda name: hvd.broadcast_async_(tensor.clone(), root, name=name)


def turn(*shape: int, dtype: torch.dtype = torch.float32) -> Callable[[str], Any]:
    def submit(name: str) -> int:
        tensor = torch.ones(*shape, dtype=dtype)
        return hvd.alltoall_async(tensor, splits=[0] * hvd.size(), name=name)

    return submit


def scatter(tensor: torch.Tensor, **how: Any) -> Callable[[str], Any]:
    how.setdefault("op", hvd.Sum)
    return lambda name: hvd.reducescatter_async(tensor.clone(), name=name, **how)


ones = torch.ones(6)
types = "Mismatched data types: One rank had type"
shapes = "tensor shapes: One rank sent a tensor of shape"
dims = "tensor shapes: One rank sent a tensor of rank"
factors = "Mismatched prescale and/or postscale factors"
ops = "Mismatched reduction operation"
CASES: dict[str, Case] = {
    "allreduce type": (reduce(ones), reduce(ones.double()), f"{types} float32.* float64"),
    "allreduce integer type": (reduce(ones.int()), reduce(ones.long()), f"{types} int32.* int64"),
    "allreduce half types": (reduce(ones.half()), reduce(ones.bfloat16()), f"{types} float16"),
    "allreduce shape": (
        reduce(ones),
        reduce(torch.ones(7)),
        rf"Mismatched ALLREDUCE {shapes} \[6\]",
    ),
    "allreduce dims": (
        reduce(ones),
        reduce(ones.view(2, 3)),
        rf"Mismatched ALLREDUCE {shapes} \[6\].*\[2, 3\]",
    ),
    "allreduce nothing": (reduce(ones), reduce(torch.ones(0)), f"Mismatched ALLREDUCE {shapes}"),
    "allreduce prescale": (reduce(ones), reduce(ones, prescale_factor=2.0), factors),
    "allreduce postscale": (reduce(ones), reduce(ones, postscale_factor=2.0), factors),
    "allreduce op": (reduce(ones, op=hvd.Min), reduce(ones, op=hvd.Max), ops),
    "allreduce average": (reduce(ones, op=hvd.Average), reduce(ones, op=hvd.Sum), ops),
    "allgather type": (gather(2), gather(2, dtype=torch.int8), f"{types} float32.* int8"),
    "allgather dims": (gather(2, 3), gather(2, 3, 1), f"Mismatched ALLGATHER {dims} 2"),
    "allgather second dim": (gather(2, 3), gather(2, 4), "with dimension 1 equal to 3"),
    "allgather third dim": (gather(2, 3, 5), gather(2, 3, 4), "with dimension 2 equal to 5"),
    "broadcast type": (give(ones), give(ones.bool()), f"{types} float32.* bool"),
    "broadcast shape": (give(ones), give(torch.ones(5)), f"Mismatched BROADCAST {shapes}"),
    "broadcast root": (give(ones, 0), give(ones, 1), "Mismatched BROADCAST root ranks"),
    "alltoall type": (turn(2), turn(2, dtype=torch.uint8), f"{types} float32.* uint8"),
    "alltoall dims": (turn(2), turn(2, 3), f"Mismatched ALLTOALL {dims} 1"),
    "alltoall second dim": (turn(2, 3), turn(2, 4), "with dimension 1 equal to 3"),
    "reducescatter type": (scatter(ones), scatter(ones.double()), f"{types} float32"),
    "reducescatter shape": (
        scatter(ones),
        scatter(torch.ones(6, 1)),
        f"Mismatched REDUCESCATTER {shapes}",
    ),
    "reducescatter op": (scatter(ones), scatter(ones, op=hvd.Average), ops),
    "reducescatter prescale": (scatter(ones), scatter(ones, prescale_factor=0.5), factors),
    # The order of checks: the type is told before the shape, the shape before the factors.
    "type before shape": (reduce(ones), reduce(torch.ones(7).double()), types),
    "shape before factors": (reduce(ones), reduce(torch.ones(7), prescale_factor=2.0), shapes),
    "factors before op": (reduce(ones), reduce(ones, prescale_factor=2.0, op=hvd.Max), factors),
}


@pytest.fixture(autouse=True)
def several(size: int) -> None:
    if size == 1:
        pytest.skip("one rank agrees with itself")


@pytest.mark.parametrize("case", CASES)
def test_all_ranks_are_told(case: str, rank: int, size: int) -> None:
    most, one, match = CASES[case]
    for odd in {0, size - 1}:  # also when the odd one is the first
        submit = one if rank == odd else most
        with pytest.raises(hvd.HorovodInternalError) as told:
            hvd.synchronize(submit(f"{case} {odd}"))
        texts = hvd.allgather_object(str(told.value), name="texts")
        assert len(set(texts)) == 1, texts
        if odd == size - 1:
            assert told.match(match)
        # The name is free again, and all agree now.
        assert hvd.synchronize(most(f"{case} {odd}")) is not None


def test_adasum_against_a_sum(rank: int, size: int) -> None:
    if size not in (2, 4):
        pytest.skip("Adasum needs a power of two")
    op = hvd.Adasum if rank == 0 else hvd.Sum
    with pytest.raises(hvd.HorovodInternalError, match="Mismatched operations: One rank did an"):
        hvd.allreduce(torch.ones(3), name="adasum or sum", op=op)


def test_kinds_of_operation(rank: int) -> None:
    """By the engine's own door: names of the Python API never collide between kinds."""
    tensor, out = torch.ones(4), torch.empty(4)
    kind = 0 if rank == 0 else 2  # allreduce, broadcast
    handle = _horovodx.submit(kind, "kinds", 7, [4], tensor.data_ptr(), out.data_ptr())
    try:
        with pytest.raises(
            hvd.HorovodInternalError, match="Mismatched operations: One rank did an"
        ):
            _horovodx.wait(handle)
    finally:
        _horovodx.release(handle)


def test_numbers_without_dimension(size: int) -> None:
    for submit, kind in ((hvd.allgather_async, "ALLGATHER"), (hvd.alltoall_async, "ALLTOALL")):
        match = f"rank zero tried to {kind} a rank-zero tensor"
        with pytest.raises(hvd.HorovodInternalError, match=match):
            hvd.synchronize(submit(torch.tensor(1.0), name=f"scalar {kind}"))


def test_the_cache_does_not_hide_it(rank: int, size: int) -> None:
    def reduced(tensor: torch.Tensor, **how: Any) -> torch.Tensor:
        return hvd.allreduce(tensor, name="cached", op=how.pop("op", hvd.Sum), **how)

    changes = [
        (torch.ones(5), {}),
        (torch.ones(4).double(), {}),
        (torch.ones(4), {"op": hvd.Max}),
        (torch.ones(4), {"prescale_factor": 2.0}),
    ]
    for tensor, how in changes:
        for _ in range(5):
            assert reduced(torch.ones(4)).tolist() == [size] * 4
        with pytest.raises(hvd.HorovodInternalError, match="Mismatched"):
            if rank == size - 1:
                reduced(tensor, **how)
            else:
                reduced(torch.ones(4))
    assert reduced(torch.ones(4)).tolist() == [size] * 4


def test_others_under_way_are_not_touched(rank: int, size: int) -> None:
    good = [
        hvd.allreduce_async(torch.full((9,), float(i)), name=f"good {i}", op=hvd.Sum)
        for i in range(10)
    ]
    bad = [
        hvd.allreduce_async(torch.ones(3 + (rank == 0)), name=f"bad {i}", op=hvd.Sum)
        for i in range(10)
    ]
    for handle in bad:
        with pytest.raises(hvd.HorovodInternalError, match="Mismatched ALLREDUCE"):
            hvd.synchronize(handle)
    for i, handle in enumerate(good):
        assert hvd.synchronize(handle).tolist() == [float(i * size)] * 9


def test_a_group_with_one_member_that_differs(rank: int, size: int) -> None:
    tensors = [torch.ones(3), torch.ones(4 + (rank == 0)), torch.ones(5)]
    with pytest.raises(hvd.HorovodInternalError, match="Mismatched ALLREDUCE"):
        hvd.grouped_allreduce(tensors, name="differs", op=hvd.Sum)
    good = hvd.grouped_allreduce([torch.ones(3)] * 3, name="differs", op=hvd.Sum)
    assert [one.tolist() for one in good] == [[size] * 3] * 3


def test_a_failed_handle_is_gone(rank: int) -> None:
    handle = hvd.allreduce_async(torch.ones(3 + (rank == 0)), name="gone", op=hvd.Sum)
    with pytest.raises(hvd.HorovodInternalError):
        hvd.synchronize(handle)
    assert hvd.synchronize(handle) is None
    with pytest.raises(ValueError, match="was not created or has been cleared"):
        hvd.poll(handle)


def test_the_input_of_a_failed_operation_is_as_it_was(rank: int) -> None:
    tensor = torch.full((3 + (rank == 0),), float(rank))
    with pytest.raises(hvd.HorovodInternalError):
        hvd.allreduce_(tensor, name="as it was", op=hvd.Sum)
    assert tensor.eq(rank).all()
