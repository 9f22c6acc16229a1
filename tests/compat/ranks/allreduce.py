"""Allreduce in all its forms: types, operations, factors, shapes, groups and sparse tensors."""

import itertools
from typing import Any

import pytest
import torch
from expected import FLOATS, INTEGERS, SHAPES, TYPES, UNSCALED, allreduce, everybodys, same

import horovod.torch as hvd

OPS = {
    "Average": hvd.Average,
    "Sum": hvd.Sum,
    "Min": hvd.Min,
    "Max": hvd.Max,
    "Product": hvd.Product,
}
FACTORS = [(1.0, 1.0), (0.5, 1.0), (1.0, 0.25), (2.0, 10.0), (0.0, 1.0), (1.0, 0.0), (-1.5, 1 / 3)]
by_type = pytest.mark.parametrize("dtype", TYPES, ids=str)
by_op = pytest.mark.parametrize("op", OPS.values(), ids=OPS)


def takes(dtype: torch.dtype, op: int) -> bool:
    return op != hvd.Average or dtype not in UNSCALED


@by_type
@by_op
def test_is_numpys_reduction_in_every_shape(dtype: torch.dtype, op: int, rank: int) -> None:
    if not takes(dtype, op):
        pytest.skip("not averaged: see test_types_that_are_not_multiplied")
    high = 2 if op == hvd.Product else 4
    for shape in SHAPES:
        tensors = everybodys("shape", dtype, shape, high)
        before = tensors[rank].clone()
        result = hvd.allreduce(tensors[rank], op=op)
        assert same(result, allreduce(tensors, op)), shape
        assert same(tensors[rank], before), "the input has changed"
        assert result.data_ptr() != tensors[rank].data_ptr() or result.numel() == 0


@by_type
def test_operations_under_way_together_do_not_mix(dtype: torch.dtype, rank: int) -> None:
    ops = [op for op in OPS.values() if takes(dtype, op)]
    jobs = []
    for shape, op in itertools.product(SHAPES, ops):
        tensors = everybodys(f"together {op}", dtype, shape, 2)
        jobs.append((hvd.allreduce_async(tensors[rank], op=op), allreduce(tensors, op)))
    for handle, expected in reversed(jobs):
        assert same(hvd.synchronize(handle), expected)


@pytest.mark.parametrize("dtype", [t for t in TYPES if t not in UNSCALED], ids=str)
@pytest.mark.parametrize(
    "op", [hvd.Average, hvd.Sum, hvd.Min, hvd.Max], ids=["Average", "Sum", "Min", "Max"]
)
def test_factors(dtype: torch.dtype, op: int, rank: int) -> None:
    fits = 1 if dtype.itemsize == 1 else 4  # what goes beyond a type's range C leaves open
    for prescale, postscale in FACTORS:
        if dtype == torch.uint8 and min(prescale, postscale) < 0:
            continue
        tensors = everybodys(f"factors {prescale} {postscale}", dtype, (3, 5), fits)
        result = hvd.allreduce(
            tensors[rank], op=op, prescale_factor=prescale, postscale_factor=postscale
        )
        assert same(result, allreduce(tensors, op, prescale, postscale)), (prescale, postscale)


@pytest.mark.parametrize("dtype", UNSCALED, ids=str)
def test_types_that_are_not_multiplied(dtype: torch.dtype, rank: int) -> None:
    tensor = torch.ones(3, dtype=dtype)
    for how in (
        {"op": hvd.Average},
        {"op": hvd.Sum, "prescale_factor": 2.0},
        {"op": hvd.Sum, "postscale_factor": 0.5},
    ):
        with pytest.raises(ValueError, match="Scaling is not supported"):
            hvd.allreduce(tensor, **how)
        with pytest.raises(ValueError, match="Scaling is not supported"):
            hvd.grouped_allreduce([torch.ones(2), tensor], **how)
    assert same(hvd.allreduce(tensor, op=hvd.Max), tensor)


def test_worked_values_of_two_ranks(rank: int, size: int) -> None:
    if size != 2:
        pytest.skip("values for two ranks")

    def mine(first: list[Any], second: list[Any], dtype: torch.dtype) -> torch.Tensor:
        return torch.tensor(second if rank else first, dtype=dtype)

    i32 = torch.int32
    assert hvd.allreduce(mine([1, 2], [2, 3], i32)).tolist() == [1, 2]
    assert hvd.allreduce(mine([-1], [-2], i32)).tolist() == [-1]
    scaled = hvd.allreduce(
        mine([1.0], [2.0], torch.float32), prescale_factor=2.0, postscale_factor=10.0
    )
    assert scaled.tolist() == [30.0]
    half = hvd.allreduce(mine([3], [5], i32), op=hvd.Sum, prescale_factor=0.5)
    assert half.tolist() == [3]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_average_of_integers_is_cut_towards_zero(dtype: torch.dtype, rank: int) -> None:
    tensors = everybodys("wide", dtype, (4099,), 2**28 if dtype == torch.int32 else 2**40)
    assert same(hvd.allreduce(tensors[rank]), allreduce(tensors, hvd.Average))
    one_less = torch.full((3,), -1 if rank == 0 else 0, dtype=dtype)
    assert hvd.allreduce(one_less).tolist() == ([-1] * 3 if hvd.size() == 1 else [0] * 3)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinities_and_not_a_number_arrive(dtype: torch.dtype, rank: int) -> None:
    tensor = torch.tensor([float("inf"), -float("inf"), float("nan"), 1.0], dtype=dtype)
    if rank:
        tensor = torch.ones(4, dtype=dtype)
    result = hvd.allreduce(tensor, op=hvd.Sum)
    assert result[0] == float("inf") and result[1] == -float("inf") and result[2].isnan()
    assert result[3] == hvd.size()


def test_big_tensors(rank: int) -> None:
    for dtype, shape in ((torch.float32, (3, 350_003)), (torch.float16, (1_000_001,))):
        tensors = everybodys("big", dtype, shape)
        assert same(hvd.allreduce(tensors[rank], op=hvd.Sum), allreduce(tensors, hvd.Sum))
        assert same(hvd.allreduce(tensors[rank]), allreduce(tensors, hvd.Average))


def test_random_numbers_give_the_same_bits_on_all_ranks(rank: int, size: int) -> None:
    torch.manual_seed(rank)
    for elements in (1, 3, 1000, 100_003):
        mine = torch.randn(elements)
        everybody = hvd.allgather(mine[None])
        result = hvd.allreduce(mine)
        exact = everybody.double().mean(0)
        # Pairwise or in a row: at most a rounding for each addition.
        assert (result - exact).abs().max() <= size * 2**-24 * everybody.abs().sum(0).max()
        bits = hvd.allgather(result[None])
        assert all(torch.equal(bits[0], other) for other in bits)


def test_average_says_what_op_says(rank: int, size: int) -> None:
    tensor = torch.full((3,), float(rank + 1))
    total = size * (size + 1) / 2
    for form in (hvd.allreduce, lambda *a, **k: hvd.synchronize(hvd.allreduce_async(*a, **k))):
        with pytest.warns(
            DeprecationWarning, match="Parameter `average` has been replaced with `op`"
        ):
            assert form(tensor, average=False).tolist() == [total] * 3
        with pytest.warns(DeprecationWarning):
            assert form(tensor, True).tolist() == [total / size] * 3
        with pytest.raises(ValueError, match="The op parameter supersedes average"):
            form(tensor, average=True, op=hvd.Sum)
        assert form(tensor).tolist() == [total / size] * 3


def test_positions_of_parameters(rank: int, size: int) -> None:
    tensor = torch.full((2,), float(rank + 1))
    total = size * (size + 1) / 2
    none = hvd.Compression.none
    assert hvd.allreduce(tensor, None, "p1", none, hvd.Sum, 2.0, 3.0).tolist() == [6 * total] * 2
    handle = hvd.allreduce_async(tensor, None, "p2", hvd.Sum, 2.0, 3.0)
    assert hvd.synchronize(handle).tolist() == [6 * total] * 2
    assert hvd.allreduce_(tensor, None, "p3", hvd.Sum, 2.0, 3.0).tolist() == [6 * total] * 2


@by_type
def test_in_place_returns_the_tensor_itself(dtype: torch.dtype, rank: int) -> None:
    for shape in SHAPES:
        tensors = everybodys("in place", dtype, shape)
        expected = allreduce(tensors, hvd.Sum)
        mine = tensors[rank].clone()
        assert hvd.allreduce_(mine, op=hvd.Sum) is mine and same(mine, expected)
        mine = tensors[rank].clone()
        assert hvd.synchronize(hvd.allreduce_async_(mine, op=hvd.Sum)) is mine
        assert same(mine, expected)


def test_a_part_of_a_tensor_in_place_leaves_the_rest(rank: int, size: int) -> None:
    whole = torch.full((5, 4), float(rank))
    hvd.allreduce_(whole[1:3], op=hvd.Sum)
    total = size * (size - 1) / 2
    assert whole[1:3].tolist() == [[total] * 4] * 2
    assert whole[[0, 3, 4]].tolist() == [[float(rank)] * 4] * 3


@by_type
def test_groups(dtype: torch.dtype, rank: int) -> None:
    parts = [everybodys("group", dtype, shape) for shape in SHAPES]
    mine = [tensors[rank] for tensors in parts]
    before = [tensor.clone() for tensor in mine]
    expected = [allreduce(tensors, hvd.Sum) for tensors in parts]

    result = hvd.grouped_allreduce(mine, op=hvd.Sum)
    assert isinstance(result, list)
    assert all(same(one, right) for one, right in zip(result, expected))
    result = hvd.synchronize(hvd.grouped_allreduce_async(mine, op=hvd.Sum, name=f"g.{dtype}"))
    assert all(same(one, right) for one, right in zip(result, expected))
    assert all(same(one, other) for one, other in zip(mine, before)), "the inputs have changed"

    copies = [tensor.clone() for tensor in mine]
    result = hvd.grouped_allreduce_(copies, op=hvd.Sum)
    assert len(result) == len(copies) and all(a is b for a, b in zip(result, copies))
    assert all(same(one, right) for one, right in zip(copies, expected))
    copies = [tensor.clone() for tensor in mine]
    hvd.synchronize(hvd.grouped_allreduce_async_(copies, op=hvd.Sum))
    assert all(same(one, right) for one, right in zip(copies, expected))


def test_a_group_of_several_types_with_factors(rank: int) -> None:
    types = [torch.float32, torch.int64, torch.float16, torch.float64, torch.int8]
    parts = [everybodys("mixed", dtype, (3, 2)) for dtype in types]
    result = hvd.grouped_allreduce(
        [tensors[rank] for tensors in parts], prescale_factor=2.0, postscale_factor=0.5
    )
    for one, tensors in zip(result, parts):
        assert same(one, allreduce(tensors, hvd.Average, 2.0, 0.5))


def test_a_group_of_a_hundred(rank: int) -> None:
    parts = [everybodys(f"hundred {i}", torch.float32, (i * 37,)) for i in range(100)]
    result = hvd.grouped_allreduce([tensors[rank] for tensors in parts], op=hvd.Sum)
    assert all(same(one, allreduce(tensors, hvd.Sum)) for one, tensors in zip(result, parts))


def test_a_group_of_nothing_is_an_error() -> None:
    for form in (
        hvd.grouped_allreduce,
        hvd.grouped_allreduce_async,
        hvd.grouped_allreduce_,
        hvd.grouped_allreduce_async_,
        hvd.grouped_allgather,
        hvd.grouped_allgather_async,
        hvd.grouped_reducescatter,
        hvd.grouped_reducescatter_async,
    ):
        with pytest.raises(ValueError):
            form([])


@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_compressed(name: str, rank: int, size: int) -> None:
    compression = getattr(hvd.Compression, name)
    travels_as = {"fp16": torch.float16, "bf16": torch.bfloat16}[name]
    for dtype in FLOATS:
        tensors = everybodys("compressed", dtype, (4, 3))
        expected = allreduce([t.to(travels_as) for t in tensors], hvd.Average).to(dtype)
        assert same(hvd.allreduce(tensors[rank], compression=compression), expected)
        [one] = hvd.grouped_allreduce([tensors[rank]], compression=compression)
        assert same(one, expected)
    tensors = everybodys("compressed", torch.int32, (4, 3))
    result = hvd.allreduce(tensors[rank], compression=compression)
    assert same(result, allreduce(tensors, hvd.Average))


def test_scaling_happens_in_the_compressed_type(rank: int) -> None:
    tensor = torch.full((2,), 60000.0)
    # Twice 60000 is more than float16 holds.
    result = hvd.allreduce(
        tensor,
        op=hvd.Max,
        prescale_factor=2.0,
        postscale_factor=0.5,
        compression=hvd.Compression.fp16,
    )
    assert result.tolist() == [float("inf")] * 2


def test_a_compressor_of_the_users_own(rank: int, size: int) -> None:
    class Halves:
        """Sends the first half of a tensor whose halves are equal."""

        @staticmethod
        def compress(tensor: torch.Tensor) -> Any:
            return tensor[: len(tensor) // 2].contiguous(), len(tensor)

        @staticmethod
        def decompress(tensor: torch.Tensor, ctx: Any) -> torch.Tensor:
            assert ctx == 2 * len(tensor)
            return torch.cat([tensor, tensor])

    total = float(size * (size + 1) // 2)
    result = hvd.allreduce(torch.full((6,), rank + 1.0), op=hvd.Sum, compression=Halves)
    assert result.tolist() == [total] * 6
    [one] = hvd.grouped_allreduce([torch.full((4,), rank + 1.0)], op=hvd.Sum, compression=Halves)
    assert one.tolist() == [total] * 4


def sparse(indices: torch.Tensor, values: torch.Tensor, shape: tuple) -> torch.Tensor:
    return torch.sparse_coo_tensor(indices, values, shape, check_invariants=True)


@pytest.mark.parametrize("op", [hvd.Average, hvd.Sum], ids=["Average", "Sum"])
def test_sparse(op: int, rank: int, size: int) -> None:
    # Ranks have different numbers of values, at places that partly meet; rank 0 has none.
    indices = torch.tensor([[i, i % 3] for i in range(rank)], dtype=torch.int64).reshape(-1, 2).T
    mine = sparse(indices, torch.full((rank, 2), float(rank)), (5, 3, 2))
    wait = hvd.sparse_allreduce_async(mine, f"sparse.{op}", op)
    assert callable(wait)
    result = wait()
    assert result.is_sparse and result._nnz() == size * (size - 1) // 2
    dense = torch.zeros(5, 3, 2)
    for r in range(size):
        for i in range(r):
            dense[i, i % 3] += r
    assert torch.equal(result.to_dense(), dense / size if op == hvd.Average else dense)


def test_sparse_needs_a_sum() -> None:
    mine = torch.eye(3).to_sparse()
    for op in (hvd.Min, hvd.Max, hvd.Product, hvd.Adasum):
        with pytest.raises((ValueError, NotImplementedError)):
            hvd.sparse_allreduce_async(mine, "sparse.refused", op)
    with pytest.raises(TypeError, match="name"):
        hvd.sparse_allreduce_async(mine, op=hvd.Sum)  # type: ignore[call-arg]


def test_tensors_that_only_look_at_memory(rank: int, size: int) -> None:
    """Gradients and views into numpy arrays are reduced like any tensor."""
    array = torch.full((6,), float(rank)).numpy()
    hvd.allreduce_(torch.from_numpy(array[2:4]), op=hvd.Sum)
    total = size * (size - 1) / 2
    assert array.tolist() == [rank, rank, total, total, rank, rank]
    parameter = torch.nn.Parameter(torch.full((3,), float(rank)))
    hvd.allreduce_(parameter.data, op=hvd.Sum)
    assert parameter.tolist() == [total] * 3


def test_integers_and_floats_are_all_there() -> None:
    assert set(TYPES) == {*INTEGERS, *FLOATS, torch.bool}
