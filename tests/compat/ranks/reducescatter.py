"""Reducescatter: NumPy's reduction, cut by rows."""

import pytest
import torch
from expected import FLOATS, SHAPES, allreduce, everybodys, rows_of, same

import horovod.torch as hvd

TYPES = [torch.uint8, torch.int8, torch.int32, torch.int64, *FLOATS]
OPS = {"Average": hvd.Average, "Sum": hvd.Sum}
by_type = pytest.mark.parametrize("dtype", TYPES, ids=str)
by_op = pytest.mark.parametrize("op", OPS.values(), ids=OPS)


@by_type
@by_op
def test_each_rank_gets_its_rows(dtype: torch.dtype, op: int, rank: int, size: int) -> None:
    for shape in (shape for shape in SHAPES if shape):
        tensors = everybodys("rows", dtype, shape)
        before = tensors[rank].clone()
        right = allreduce(tensors, op)[rows_of(rank, shape[0], size)]
        assert same(hvd.reducescatter(tensors[rank], op=op), right), shape
        assert same(hvd.synchronize(hvd.reducescatter_async(tensors[rank], op=op)), right)
        assert same(tensors[rank], before)


@by_type
@by_op
def test_factors(dtype: torch.dtype, op: int, rank: int, size: int) -> None:
    fits = 1 if dtype.itemsize == 1 else 4  # what goes beyond a type's range C leaves open
    for pre, post in ((0.5, 1.0), (1.0, 0.25), (2.0, 10.0), (0.0, 1.0), (1.0, 0.0)):
        tensors = everybodys(f"factors {pre} {post}", dtype, (7, 3), fits)
        result = hvd.reducescatter(tensors[rank], op=op, prescale_factor=pre, postscale_factor=post)
        right = allreduce(tensors, op, pre, post)[rows_of(rank, 7, size)]
        assert same(result, right), (pre, post)


def test_five_rows_over_three_ranks(rank: int, size: int) -> None:
    if size != 3:
        pytest.skip("values for three ranks")
    assert len(hvd.reducescatter(torch.ones(5, 2))) == [2, 2, 1][rank]


def test_the_average_is_the_default(rank: int, size: int) -> None:
    tensor = torch.full((size,), float(rank + 1))
    assert hvd.reducescatter(tensor).tolist() == [(size + 1) / 2]


def test_groups(rank: int, size: int) -> None:
    shapes = [(7, 2), (size,), (1, 3), (0, 4), (200, 33)]
    for dtype in (torch.float32, torch.int64, torch.float16, torch.bfloat16):
        parts = [everybodys("group", dtype, shape) for shape in shapes]
        right = [
            allreduce(tensors, hvd.Sum)[rows_of(rank, len(tensors[0]), size)] for tensors in parts
        ]
        mine = [tensors[rank] for tensors in parts]
        result = hvd.grouped_reducescatter(mine, op=hvd.Sum, name="group")
        assert isinstance(result, list)
        assert all(same(one, other) for one, other in zip(result, right))
        result = hvd.synchronize(hvd.grouped_reducescatter_async(mine, op=hvd.Sum))
        assert all(same(one, other) for one, other in zip(result, right))


def test_positions_of_parameters(rank: int, size: int) -> None:
    tensor = torch.full((size,), float(rank + 1))
    total = size * (size + 1) / 2
    ps, none = hvd.global_process_set, hvd.Compression.none
    assert hvd.reducescatter(tensor, "p1", none, hvd.Sum, ps, 2.0, 3.0).tolist() == [6 * total]
    handle = hvd.reducescatter_async(tensor, "p2", hvd.Sum, ps, 2.0, 3.0)
    assert hvd.synchronize(handle).tolist() == [6 * total]
    [one] = hvd.grouped_reducescatter([tensor], "p3", none, hvd.Sum, ps, 2.0, 3.0)
    assert one.tolist() == [6 * total]
    handle = hvd.grouped_reducescatter_async([tensor], "p4", hvd.Sum, ps, 2.0, 3.0)
    assert hvd.synchronize(handle)[0].tolist() == [6 * total]


def test_compressed(rank: int, size: int) -> None:
    tensors = everybodys("compressed", torch.float32, (5, 3))
    right = allreduce([t.half() for t in tensors], hvd.Average).float()[rows_of(rank, 5, size)]
    fp16 = hvd.Compression.fp16
    assert same(hvd.reducescatter(tensors[rank], compression=fp16), right)
    assert same(hvd.grouped_reducescatter([tensors[rank]], compression=fp16)[0], right)


def test_megabytes(rank: int, size: int) -> None:
    tensors = everybodys("megabytes", torch.float32, (10_007, 101))
    right = allreduce(tensors, hvd.Sum)[rows_of(rank, 10_007, size)]
    assert same(hvd.reducescatter(tensors[rank], op=hvd.Sum), right)
    scaled = hvd.reducescatter(tensors[rank], op=hvd.Sum, prescale_factor=2.0)
    assert same(scaled, right * 2)


def test_a_single_number_is_refused() -> None:
    for form in (hvd.reducescatter, hvd.reducescatter_async):
        with pytest.raises(ValueError, match="does not support scalar inputs"):
            form(torch.tensor(1.0))
    with pytest.raises(ValueError, match="does not support scalar inputs"):
        hvd.grouped_reducescatter([torch.ones(2), torch.tensor(1.0)])


@pytest.mark.parametrize("op", [hvd.Min, hvd.Max, hvd.Product, hvd.Adasum])
def test_other_operations_are_refused(op: int) -> None:
    with pytest.raises(hvd.HorovodInternalError, match="only supports AVERAGE and SUM"):
        hvd.reducescatter(torch.ones(4), op=op)
    with pytest.raises(hvd.HorovodInternalError, match="only supports AVERAGE and SUM"):
        hvd.grouped_reducescatter([torch.ones(4)], op=op)


def test_types_that_are_refused() -> None:
    with pytest.raises(ValueError, match="Tensor type .* is not supported"):
        hvd.reducescatter(torch.ones(4, dtype=torch.bool), op=hvd.Sum)
    with pytest.raises(ValueError, match="not supported"):
        hvd.reducescatter(torch.ones(4, dtype=torch.int16))
    assert hvd.reducescatter(torch.ones(0, dtype=torch.int16), op=hvd.Sum).shape == (0,)
