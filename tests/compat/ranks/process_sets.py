"""Process sets: given to init() or added later, and every collective inside them."""

import os
from collections.abc import Iterator
from typing import Any, Callable

import pytest
import torch
from expected import allreduce, everybodys, rows_of, same

import horovod.torch as hvd
from horovod.common import process_sets as module
from horovod.torch.mpi_ops import _basics


@pytest.fixture
def fresh() -> Iterator[Callable[..., None]]:
    """A function that starts the engine anew; at the end one without sets runs again."""
    dynamic = os.environ.pop("HOROVOD_DYNAMIC_PROCESS_SETS", None)
    assert dynamic is None

    def start(process_sets: Any = None) -> None:
        hvd.barrier()
        hvd.shutdown()
        hvd.init(process_sets=process_sets)

    yield start
    os.environ.pop("HOROVOD_DYNAMIC_PROCESS_SETS", None)
    start()


def halves(size: int) -> list[list[int]]:
    """Ranks in turn: (0, 2, …) and (1, 3, …)."""
    return [list(range(0, size, 2)), list(range(1, size, 2))]


def test_the_global_set(rank: int, size: int) -> None:
    everybody = hvd.global_process_set
    assert everybody.process_set_id == 0 and everybody.ranks == list(range(size))
    assert everybody.size() == size and everybody.rank() == rank and everybody.included() is True
    assert module.global_process_set is everybody
    assert hvd.remove_process_set(everybody) is False
    assert hvd.allreduce(torch.ones(2), op=hvd.Sum, process_set=everybody).tolist() == [size] * 2


def test_a_set_that_is_not_registered(rank: int) -> None:
    one = hvd.ProcessSet([3, 0, 1])
    assert one.ranks == [0, 1, 3] and one.process_set_id is None and one.mpi_comm is None
    assert one.size() is None and one.rank() is None
    assert one.included() is (rank in (0, 1, 3))
    assert str(one) == "ProcessSet(process_set_id=None, ranks=[0, 1, 3], mpi_comm=None)"
    assert hvd.ProcessSet(range(2)).ranks == [0, 1]
    assert hvd.remove_process_set(one) is False
    for wrong in (["a"], [0, 1.5], [None]):
        with pytest.raises(ValueError):
            hvd.ProcessSet(wrong)


def test_sets_given_to_init(fresh: Callable[..., None], rank: int, size: int) -> None:
    if size < 3:
        pytest.skip("halves and their whole must differ")
    even, odd = (hvd.ProcessSet(ranks) for ranks in halves(size))
    last = hvd.ProcessSet([size - 1, 0])
    fresh([even, odd] + ([last] if size == 4 else []))
    assert (even.process_set_id, odd.process_set_id) == (1, 2)
    if size == 4:
        assert last.process_set_id == 3 and last.ranks == [0, 3]
    mine, other = (even, odd) if rank % 2 == 0 else (odd, even)
    assert mine.included() and not other.included()
    assert mine.size() == len(mine.ranks) and mine.rank() == rank // 2
    assert other.size() == len(other.ranks)
    with pytest.raises(ValueError, match="Process is not part of provided process set."):
        other.rank()
    ids = _basics._get_process_set_ids_and_ranks()
    assert ids[0] == list(range(size)) and ids[1] == even.ranks and ids[2] == odd.ranks
    total = hvd.allreduce(torch.tensor([float(rank)]), op=hvd.Sum, process_set=mine)
    assert total.item() == sum(mine.ranks)
    hvd.barrier()
    # A second init() changes nothing but finds the numbers for other objects of the same sets.
    again = hvd.ProcessSet(even.ranks)
    hvd.init(process_sets=[again])
    assert again.process_set_id == 1


def test_sets_given_twice(fresh: Callable[..., None], rank: int, size: int) -> None:
    if size < 2:
        pytest.skip("a set beside the global one")
    one, two = hvd.ProcessSet([0]), hvd.ProcessSet([0])
    with pytest.raises(ValueError, match="is a duplicate"):
        fresh([one, two])
    assert one.process_set_id == 1 and two.process_set_id is None
    assert hvd.is_initialized() and hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == size
    everybody = hvd.ProcessSet(range(size))
    with pytest.raises(ValueError, match="is a duplicate"):
        fresh([everybody])
    assert everybody.process_set_id is None
    assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == size


def test_sets_that_cannot_be(fresh: Callable[..., None], size: int) -> None:
    for ranks in ([size], [0, size + 5], [-1], [0, 0]):
        with pytest.raises(ValueError, match="Horovod initialization failed"):
            fresh([hvd.ProcessSet(ranks)])
        hvd.init()
        assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == size


def test_ranks_that_name_other_sets(fresh: Callable[..., None], rank: int, size: int) -> None:
    if size < 3:
        pytest.skip("needs room for two sets of one size")
    for sets in (
        [hvd.ProcessSet([0, 1] if rank == 0 else [0, 2])],
        [hvd.ProcessSet([0, 1] if rank == 0 else [0])],
        [hvd.ProcessSet([0, 1])] if rank == 0 else [],
    ):
        with pytest.raises(ValueError, match="Horovod initialization failed"):
            fresh(sets)
        hvd.init()
        assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == size


def test_adding_needs_permission(fresh: Callable[..., None], size: int) -> None:
    fresh()
    with pytest.raises(ValueError, match="Set HOROVOD_DYNAMIC_PROCESS_SETS=1"):
        hvd.add_process_set([0])
    with pytest.raises(ValueError, match="process_sets"):
        hvd.init(process_sets="sometimes")


def test_adding_and_removing(fresh: Callable[..., None], rank: int, size: int) -> None:
    if size < 2:
        pytest.skip("a set beside the global one")
    fresh("Dynamic")
    assert os.environ["HOROVOD_DYNAMIC_PROCESS_SETS"] == "1"
    first = hvd.add_process_set([0])
    assert isinstance(first, hvd.ProcessSet) and first.process_set_id == 1
    second = hvd.ProcessSet([1])
    assert hvd.add_process_set(second) is second and second.process_set_id == 2
    mine = first if rank == 0 else second
    if rank < 2:
        assert hvd.allreduce(torch.tensor([5.0]), name="own", process_set=mine).item() == 5.0
    with pytest.raises(ValueError, match="duplicate process set"):
        hvd.add_process_set([1])
    with pytest.raises(ValueError, match="duplicate process set"):
        hvd.add_process_set(range(size))
    assert hvd.remove_process_set(first) is True
    assert first.process_set_id is None and hvd.remove_process_set(first) is False
    with pytest.raises(ValueError, match="does not exist, or has not been registered"):
        hvd.allreduce(torch.ones(1), process_set=first)
    # The number is used again, and the same ranks may come again.
    third = hvd.add_process_set([0])
    assert third.process_set_id == 1
    fourth = hvd.add_process_set([0, 1]) if size > 2 else None
    if fourth is not None:
        assert fourth.process_set_id == 3
        if rank < 2:
            assert hvd.allreduce(torch.ones(1), name="two", op=hvd.Sum, process_set=fourth) == 2
        else:
            with pytest.raises(ValueError, match=f"Rank {rank} is not a member"):
                hvd.allreduce(torch.ones(1), name="two", process_set=fourth)
        assert hvd.remove_process_set(fourth)
    assert hvd.remove_process_set(second) and hvd.remove_process_set(third)
    assert list(_basics._get_process_set_ids_and_ranks()) == [0]


def test_adding_many_times(fresh: Callable[..., None], rank: int, size: int) -> None:
    if size < 3:
        pytest.skip("pairs beside the global set")
    fresh("dynamic")
    for i in range(20):
        pair = hvd.add_process_set([i % size, (i + 1) % size])
        if pair.included():
            total = hvd.allreduce(torch.ones(3), name="pair", op=hvd.Sum, process_set=pair)
            assert total.tolist() == [2.0] * 3
        assert hvd.remove_process_set(pair)
    handle = hvd.allreduce_async(torch.ones(1), name="still there", op=hvd.Sum)
    assert hvd.synchronize(handle).item() == size


def test_sets_that_cannot_be_added(fresh: Callable[..., None], rank: int, size: int) -> None:
    fresh("dynamic")
    for ranks in ([size], [-1], [0, 0], []):
        with pytest.raises(ValueError):
            hvd.add_process_set(ranks)
    assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == size


@pytest.fixture
def inside(fresh: Callable[..., None], rank: int, size: int) -> Iterator[hvd.ProcessSet]:
    """All ranks but 0, at work; rank 0 finds every collective closed to it."""
    if size < 2:
        pytest.skip("a set needs a rank outside")
    process_set = hvd.ProcessSet(range(1, size))
    fresh([process_set])
    yield process_set


def test_collectives_inside(inside: hvd.ProcessSet, rank: int, size: int) -> None:
    n = size - 1
    ones = torch.ones(max(n, 1))
    forms = {
        "Allreduce": lambda: hvd.allreduce(ones, name="x", process_set=inside),
        "Allgather": lambda: hvd.allgather(ones, name="x", process_set=inside),
        "Broadcast": lambda: hvd.broadcast(ones, 1, name="x", process_set=inside),
        "Alltoall": lambda: hvd.alltoall(ones, name="x", process_set=inside),
        "Reducescatter": lambda: hvd.reducescatter(ones, name="x", process_set=inside),
        "Barrier": lambda: hvd.barrier(process_set=inside),
    }
    if rank == 0:
        for kind, form in forms.items():
            match = f"{kind}: Rank 0 is not a member of the provided process set"
            with pytest.raises(ValueError, match=match):
                form()
        return
    tensors = everybodys("inside", torch.float32, (5, 3))
    mine, members = tensors[rank], tensors[1:]
    for op in (hvd.Average, hvd.Sum, hvd.Min, hvd.Max, hvd.Product):
        result = hvd.allreduce(mine, op=op, name=f"in {op}", process_set=inside)
        assert same(result, allreduce(members, op))
    group = hvd.grouped_allreduce([mine, mine], name="in", op=hvd.Sum, process_set=inside)
    assert all(same(one, allreduce(members, hvd.Sum)) for one in group)
    copy = mine.clone()
    hvd.allreduce_(copy, name="in place", process_set=inside)
    assert same(copy, allreduce(members, hvd.Average))
    assert same(hvd.allgather(mine, name="in", process_set=inside), torch.cat(members))
    assert same(hvd.grouped_allgather([mine], name="in", process_set=inside)[0], torch.cat(members))
    for root in range(1, size):  # by global rank
        result = hvd.broadcast(mine, root, name=f"in {root}", process_set=inside)
        assert same(result, tensors[root])
    with pytest.raises(ValueError, match="broadcast received invalid root rank 0"):
        hvd.broadcast(mine, 0, name="in", process_set=inside)
    output, received = hvd.alltoall(mine, [1] * n, name="in", process_set=inside)
    assert same(output, torch.stack([t[rank - 1] for t in members])) if n <= 5 else True
    assert received.tolist() == [1] * n
    result = hvd.reducescatter(mine, name="in", op=hvd.Sum, process_set=inside)
    assert same(result, allreduce(members, hvd.Sum)[rows_of(rank - 1, 5, n)])
    [result] = hvd.grouped_reducescatter([mine], name="in", op=hvd.Sum, process_set=inside)
    assert same(result, allreduce(members, hvd.Sum)[rows_of(rank - 1, 5, n)])
    hvd.barrier(process_set=inside)
    assert hvd.broadcast_object(rank, 1, name="in", process_set=inside) == 1
    wait = hvd.sparse_allreduce_async(mine.to_sparse(), "in", hvd.Average, process_set=inside)
    assert torch.allclose(wait().to_dense(), torch.stack(members).mean(0), atol=1e-6)


def test_gradients_inside(inside: hvd.ProcessSet, rank: int, size: int) -> None:
    if rank == 0:
        return
    n = size - 1
    x = torch.ones(n, 2, requires_grad=True)
    (hvd.allreduce(x, name="g", op=hvd.Sum, process_set=inside) * rank).sum().backward()
    assert x.grad.eq(sum(range(1, size))).all()
    x.grad = None
    (hvd.allgather(x, name="g", process_set=inside) * rank).sum().backward()
    assert torch.allclose(x.grad, torch.full((n, 2), sum(range(1, size)) / n))
    x.grad = None
    (hvd.broadcast(x, size - 1, name="g", process_set=inside) * rank).sum().backward()
    right = sum(range(1, size)) / n if rank == size - 1 else 0.0
    assert torch.allclose(x.grad, torch.full((n, 2), right))
    x.grad = None
    (hvd.alltoall(x, name="g", process_set=inside) * rank).sum().backward()
    assert x.grad[:, 0].tolist() == [float(r) for r in range(1, size)]
    x.grad = None
    (hvd.reducescatter(x, name="g", op=hvd.Sum, process_set=inside) * rank).sum().backward()
    assert x.grad[:, 0].tolist() == [float(r * n) for r in range(1, size)]


def test_one_name_in_two_sets(inside: hvd.ProcessSet, rank: int, size: int) -> None:
    handles = []
    if rank > 0:
        handles.append(
            hvd.allreduce_async(torch.ones(3), name="both", op=hvd.Sum, process_set=inside)
        )
    everybody = hvd.allreduce_async(torch.ones(3), name="both", op=hvd.Sum)
    for handle in handles:
        assert hvd.synchronize(handle).tolist() == [size - 1.0] * 3
    assert hvd.synchronize(everybody).tolist() == [float(size)] * 3


def test_mismatches_inside(inside: hvd.ProcessSet, rank: int, size: int) -> None:
    if size < 3:
        return
    if rank > 0:
        with pytest.raises(hvd.HorovodInternalError, match="Mismatched ALLREDUCE tensor shapes"):
            hvd.allreduce(torch.ones(2 + (rank == 1)), name="apart", process_set=inside)
        root = 1 if rank == 1 else 2
        with pytest.raises(
            hvd.HorovodInternalError, match="Mismatched BROADCAST root ranks.* 1.* 2"
        ):
            hvd.broadcast(torch.ones(2), root, name="roots", process_set=inside)
        hvd.barrier(process_set=inside)


def test_a_set_at_work_while_the_others_rest(inside: hvd.ProcessSet, rank: int, size: int) -> None:
    if rank > 0:
        for i in range(50):
            result = hvd.allreduce(
                torch.full((100,), float(i)), name=f"busy {i}", op=hvd.Sum, process_set=inside
            )
            assert result.eq(i * (size - 1)).all()


def test_adasum_is_for_everybody(inside: hvd.ProcessSet) -> None:
    with pytest.raises(
        NotImplementedError, match="Adasum does not support non-global process sets yet"
    ):
        hvd.allreduce(torch.ones(2), op=hvd.Adasum, process_set=inside)


def test_an_optimizer_inside(inside: hvd.ProcessSet, rank: int, size: int) -> None:
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0), model.named_parameters(), process_set=inside
    )
    model(torch.full((1, 2), float(rank))).sum().backward()
    optimizer.step()
    # Rank 0 is outside and keeps its own gradient, which is zero.
    step = 0.0 if rank == 0 else sum(range(1, size)) / (size - 1)
    assert torch.allclose(model.weight, torch.full((1, 2), 1.0 - step))
    with pytest.raises(
        NotImplementedError, match="Adasum does not support non-global process sets yet"
    ):
        hvd.DistributedOptimizer(
            torch.optim.SGD(model.parameters(), lr=1.0), op=hvd.Adasum, process_set=inside
        )


def test_by_number(inside: hvd.ProcessSet, rank: int, size: int) -> None:
    same_set = module._temp_process_set_object(inside.process_set_id)
    assert same_set.ranks == inside.ranks and same_set.process_set_id == 1
    assert _basics._process_set_size(1) == size - 1
    with pytest.raises(ValueError):
        _basics._process_set_size(77)
    if rank > 0:
        assert _basics._process_set_rank(1) == rank - 1
