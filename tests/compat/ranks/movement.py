"""Allgather, broadcast and alltoall: data arrives where it should, every bit of it."""

import pytest
import torch
from expected import SHAPES, TYPES, everybodys, same

import horovod.torch as hvd

MOVED = [*TYPES, torch.uint16]
by_type = pytest.mark.parametrize("dtype", MOVED, ids=str)
WITH_ROWS = [shape for shape in SHAPES if shape]


def rows_differ(what: str, dtype: torch.dtype, rest: tuple) -> list[torch.Tensor]:
    """A tensor for each rank with 0, 3, 6, … rows."""
    whole = everybodys(what, dtype, (3 * hvd.size(), *rest))
    return [tensor[: 3 * rank] for rank, tensor in enumerate(whole)]


# --- allgather


@by_type
def test_allgather_puts_ranks_in_order(dtype: torch.dtype, rank: int) -> None:
    for shape in WITH_ROWS:
        tensors = everybodys("gather", dtype, shape)
        before = tensors[rank].clone()
        assert same(hvd.allgather(tensors[rank]), torch.cat(tensors)), shape
        assert same(tensors[rank], before)
    for rest in ((), (2,), (3, 0), (2, 1, 3)):
        tensors = rows_differ("uneven gather", dtype, rest)
        assert same(hvd.allgather(tensors[rank]), torch.cat(tensors)), rest


def test_allgather_async_and_groups(rank: int) -> None:
    parts = [
        rows_differ("group", torch.float32, (4,)),
        rows_differ("group", torch.int64, ()),
        everybodys("group", torch.bool, (5, 2)),
        everybodys("group", torch.bfloat16, (0, 2)),
    ]
    expected = [torch.cat(tensors) for tensors in parts]
    handles = [hvd.allgather_async(tensors[rank]) for tensors in parts]
    for handle, right in reversed(list(zip(handles, expected))):
        assert same(hvd.synchronize(handle), right)
    mine = [tensors[rank] for tensors in parts]
    result = hvd.grouped_allgather(mine, name="group of gathers")
    assert isinstance(result, tuple) and len(result) == len(parts)
    assert all(same(one, right) for one, right in zip(result, expected))
    result = hvd.synchronize(hvd.grouped_allgather_async(mine))
    assert all(same(one, right) for one, right in zip(result, expected))


def test_allgather_of_much_and_of_nothing(rank: int, size: int) -> None:
    tensors = everybodys("much", torch.float32, (1000 + 7 * rank, 251))
    mine = tensors[rank]
    result = hvd.allgather(mine)
    first = sum(1000 + 7 * r for r in range(rank))
    assert result.shape == (sum(1000 + 7 * r for r in range(size)), 251)
    assert same(result[first : first + len(mine)], mine)
    assert hvd.allgather(torch.empty(0)).shape == (0,)
    assert hvd.allgather(torch.empty(0, 3)).shape == (0, 3)


def test_gathered_results_outlive_their_handle_and_each_other(rank: int, size: int) -> None:
    kept = [hvd.allgather(torch.full((100,), float(i + rank))) for i in range(50)]
    for i, result in enumerate(kept):
        assert result.view(size, 100)[:, 0].tolist() == [float(i + r) for r in range(size)]
    kept[0].add_(1)
    assert kept[0][0] == 1.0 and kept[1][0] == 1.0


def test_allgather_of_a_single_number(rank: int) -> None:
    with pytest.raises(IndexError):
        hvd.allgather(torch.tensor(1.0))


# --- broadcast


@by_type
def test_broadcast_from_every_root(dtype: torch.dtype, rank: int, size: int) -> None:
    for root in range(size):
        for shape in SHAPES:
            tensors = everybodys(f"broadcast {root}", dtype, shape)
            before = tensors[rank].clone()
            result = hvd.broadcast(tensors[rank], root)
            assert same(result, tensors[root]), (root, shape)
            assert same(tensors[rank], before)
            if result.numel():
                assert result.data_ptr() != tensors[rank].data_ptr(), "the root's is a copy too"


@by_type
def test_broadcast_in_place(dtype: torch.dtype, rank: int, size: int) -> None:
    for root in range(size):
        tensors = everybodys(f"in place {root}", dtype, (3, 5))
        mine = tensors[rank].clone()
        assert hvd.broadcast_(mine, root) is mine and same(mine, tensors[root])
        mine = tensors[rank].clone()
        assert hvd.synchronize(hvd.broadcast_async_(mine, root, name="b")) is mine
        assert same(mine, tensors[root])
        handle = hvd.broadcast_async(tensors[rank], root_rank=root)
        assert same(hvd.synchronize(handle), tensors[root])


def test_broadcasts_of_different_roots_under_way_together(rank: int, size: int) -> None:
    jobs = []
    for i in range(20):
        tensors = everybodys(f"roots {i}", torch.float32, (i * 100,))
        jobs.append((hvd.broadcast_async(tensors[rank], i % size), tensors[i % size]))
    assert all(same(hvd.synchronize(handle), right) for handle, right in jobs)


def test_broadcast_of_megabytes(rank: int, size: int) -> None:
    tensors = everybodys("megabytes", torch.float32, (700_001,))
    assert same(hvd.broadcast(tensors[rank], size - 1), tensors[size - 1])


# --- alltoall


@by_type
def test_alltoall_in_equal_shares(dtype: torch.dtype, rank: int, size: int) -> None:
    for rows, rest in ((0, ()), (1, (3,)), (2, ()), (3, (2, 1, 2)), (2, (0, 4))):
        tensors = everybodys("shares", dtype, (rows * size, *rest))
        before = tensors[rank].clone()
        result = hvd.alltoall(tensors[rank])
        share = slice(rank * rows, (rank + 1) * rows)
        assert isinstance(result, torch.Tensor)
        assert same(result, torch.cat([tensor[share] for tensor in tensors]))
        assert same(tensors[rank], before)


def sent(sender: int, receiver: int) -> int:
    """Uneven, with zeros; what a rank sends to another is not what it gets from it."""
    return (2 * sender + receiver) % 3


@by_type
def test_alltoall_in_uneven_shares(dtype: torch.dtype, rank: int, size: int) -> None:
    splits = [[sent(s, r) for r in range(size)] for s in range(size)]
    extra = 2  # rows that nobody gets
    tensors = [everybodys("uneven", dtype, (sum(splits[s]) + extra, 2))[s] for s in range(size)]
    parts = []
    for s in range(size):
        first = sum(splits[s][:rank])
        parts.append(tensors[s][first : first + splits[s][rank]])
    right = [splits[s][rank] for s in range(size)]
    forms = [splits[rank], tuple(splits[rank]), torch.tensor(splits[rank], dtype=torch.int32)]
    for mine in forms:
        output, received = hvd.alltoall(tensors[rank], splits=mine)
        assert same(output, torch.cat(parts))
        assert same(received, torch.tensor(right, dtype=torch.int32))
    output, received = hvd.synchronize(hvd.alltoall_async(tensors[rank], forms[0], name="uneven"))
    assert same(output, torch.cat(parts)) and received.tolist() == right


def test_alltoall_async_always_gives_a_pair(rank: int, size: int) -> None:
    output, received = hvd.synchronize(hvd.alltoall_async(torch.arange(2.0 * size)))
    assert output.tolist() == [2.0 * rank, 2.0 * rank + 1] * size
    assert received.dtype == torch.int32 and received.tolist() == [2] * size


def test_alltoall_worked_values_of_two_ranks(rank: int, size: int) -> None:
    if size != 2:
        pytest.skip("values for two ranks")
    rows = torch.arange(6.0) + 10 * rank
    output, received = hvd.alltoall(rows, splits=[1, 2])
    if rank == 0:
        assert output.tolist() == [0, 10] and received.tolist() == [1, 1]
    else:
        assert output.tolist() == [1, 2, 11, 12] and received.tolist() == [2, 2]


def test_alltoall_to_one_rank_only(rank: int, size: int) -> None:
    for target in range(size):
        splits = [3 if r == target else 0 for r in range(size)]
        output, received = hvd.alltoall(torch.full((3, 2), float(rank)), splits)
        if rank == target:
            assert output[:, 0].tolist() == [float(r) for r in range(size) for _ in range(3)]
            assert received.tolist() == [3] * size
        else:
            assert output.shape == (0, 2) and received.tolist() == [0] * size


def test_alltoall_of_nothing_at_all(rank: int, size: int) -> None:
    output, received = hvd.alltoall(torch.empty(0, 5), splits=[0] * size)
    assert output.shape == (0, 5) and received.tolist() == [0] * size


def test_alltoall_of_megabytes(rank: int, size: int) -> None:
    rows = 30_011
    mine = torch.arange(rows * size * 8, dtype=torch.float32).view(-1, 8) + rank
    output = hvd.alltoall(mine)
    first = torch.arange(rows * 8, dtype=torch.float32).view(-1, 8) + rank * rows * 8
    assert torch.equal(output, torch.cat([first + r for r in range(size)]))
