"""Join and barrier: ranks that run out of data, and ranks that wait for each other."""

import time
from typing import Any

import pytest
import torch

import horovod.torch as hvd


def test_everybody_at_once(rank: int, size: int) -> None:
    for _ in range(5):
        last = hvd.join()
        assert type(last) is int and 0 <= last < size
        assert len(set(hvd.allgather_object(last, name="last"))) == 1


@pytest.mark.usefixtures("restart")
def test_the_rank_with_most_data_joins_last(rank: int, size: int) -> None:
    for last in range(size):
        # Everybody has another number of steps; that of `last` is the greatest.
        steps = [(r - last - 1) % size for r in range(size)]
        for step in range(steps[rank]):
            active = [r for r in range(size) if steps[r] > step]
            total = hvd.allreduce(
                torch.full((5,), rank + 1.0), name=f"uneven {last} {step}", op=hvd.Sum
            )
            assert total.tolist() == [float(sum(r + 1 for r in active))] * 5
        assert hvd.join() == last


@pytest.mark.usefixtures("restart")
def test_an_average_is_over_all_ranks(rank: int, size: int) -> None:
    if rank == 0:
        for _ in range(3):
            average = hvd.allreduce(torch.full((2,), 12.0), name="lonely")
            assert average.tolist() == [12.0 / size] * 2
            whole = hvd.allreduce(torch.full((2,), 12), name="lonely int")
            assert whole.tolist() == [12 // size] * 2
    assert hvd.join() == 0


@pytest.mark.usefixtures("restart")
def test_other_reductions_see_zeros(rank: int, size: int) -> None:
    if rank == size - 1:
        alone = size == 1
        high, low = torch.full((3,), 7.0), torch.full((3,), -7.0)
        assert hvd.allreduce(high, name="min", op=hvd.Min).tolist() == [7.0 if alone else 0.0] * 3
        assert hvd.allreduce(low, name="max", op=hvd.Max).tolist() == [-7.0 if alone else 0.0] * 3
        product = hvd.allreduce(high, name="product", op=hvd.Product)
        assert product.tolist() == [7.0 if alone else 0.0] * 3
        scaled = hvd.allreduce(high, name="scaled", op=hvd.Sum, prescale_factor=2.0)
        assert scaled.tolist() == [14.0] * 3
    assert hvd.join() == size - 1


@pytest.mark.usefixtures("restart")
def test_types_shapes_and_groups(rank: int, size: int) -> None:
    if rank == 0:
        for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64):
            for shape in ((), (0,), (3, 4), (1000,)):
                tensor = torch.full(shape, 5, dtype=dtype)
                result = hvd.allreduce(tensor, name=f"{dtype} {shape}", op=hvd.Sum)
                assert torch.equal(result, tensor)
        group = [torch.full((i,), float(i)) for i in range(5)]
        result = hvd.grouped_allreduce(group, name="group", op=hvd.Sum)
        assert all(torch.equal(a, b) for a, b in zip(result, group))
        big = torch.arange(500_000.0)
        assert torch.equal(hvd.allreduce(big, name="big", op=hvd.Sum), big)
        big = hvd.allreduce_(big, name="big", op=hvd.Sum)
        assert big[-1] == 499_999
    assert hvd.join() == 0


@pytest.mark.usefixtures("restart")
def test_names_known_before_are_served_too(rank: int, size: int) -> None:
    """What all ranks have reduced many times, by habit, goes on with one of them missing."""
    for step in range(30 if rank == 0 else 20):
        result = hvd.allreduce(torch.full((4,), 1.0), name="habit", op=hvd.Sum)
        assert result.tolist() == [size if step < 20 else 1.0] * 4
    assert hvd.join() == 0
    result = hvd.allreduce(torch.full((4,), 1.0), name="habit", op=hvd.Sum)
    assert result.tolist() == [size] * 4


@pytest.mark.usefixtures("restart")
def test_other_collectives_fail_for_those_who_ask(rank: int, size: int) -> None:
    if size == 1:
        pytest.skip("nobody else could have joined")
    ones = torch.ones(size)
    forms = {
        "Allgather": lambda: hvd.allgather(ones, name="joined"),
        "Broadcast": lambda: hvd.broadcast(ones, 0, name="joined"),
        "Alltoall": lambda: hvd.alltoall(ones, name="joined"),
        "Reducescatter": lambda: hvd.reducescatter(ones, name="joined"),
    }
    # The last rank joins at once; that it has, the others see by a sum without it.
    if rank != size - 1:
        gone = hvd.allreduce(torch.ones(1), name="is it gone", op=hvd.Sum)
        assert gone.item() == size - 1
        for kind, form in forms.items():
            with pytest.raises(
                hvd.HorovodInternalError, match=f"{kind} is not supported with Join at this time"
            ):
                form()
        left = hvd.allreduce(torch.ones(1), name="afterwards", op=hvd.Sum)
        assert left.item() == size - 1
    hvd.join()


@pytest.mark.usefixtures("restart")
def test_mismatches_during_join(rank: int, size: int) -> None:
    if size < 3:
        pytest.skip("two that disagree and one that joined")
    if rank < 2:
        with pytest.raises(hvd.HorovodInternalError, match="Mismatched ALLREDUCE"):
            hvd.allreduce(torch.ones(3 + rank), name="disagree", op=hvd.Sum)
        # Rank 2 and up have joined: only these two are in the sum.
        assert hvd.allreduce(torch.ones(3), name="agree", op=hvd.Sum).tolist() == ([2.0] * 3)
    assert hvd.join() in (0, 1)


@pytest.mark.usefixtures("restart")
def test_training_with_uneven_data(rank: int, size: int) -> None:
    """The use it is made for: every rank has another number of batches."""
    model = torch.nn.Linear(3, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0), model.named_parameters()
    )
    for batch in range(2 + rank):
        active = [r for r in range(size) if 2 + r > batch]
        before = model.weight.detach().clone()
        optimizer.zero_grad()
        model(torch.full((1, 3), 8.0 * (rank + 1))).sum().backward()
        optimizer.step()
        step = 8.0 * sum(r + 1 for r in active) / size
        assert torch.allclose(model.weight, before - step)
    assert hvd.join() == size - 1


def test_barrier_waits_for_the_last(rank: int, size: int) -> None:
    """Nobody leaves before everybody has come."""
    for late in range(size):
        if rank == late:
            until = time.monotonic() + 0.05
            while time.monotonic() < until:
                pass
        came = time.monotonic()
        assert hvd.barrier() is None
        left = time.monotonic()
        times = hvd.allgather(torch.tensor([[came, left]], dtype=torch.float64))
        # One clock for all ranks of a host.
        assert times[:, 1].min() >= times[:, 0].max()


def test_many_barriers(rank: int) -> None:
    for _ in range(200):
        hvd.barrier()


def test_a_barrier_does_not_wait_for_operations(rank: int, size: int) -> None:
    if rank == 0:
        handle = hvd.allreduce_async(torch.ones(1), name="still under way", op=hvd.Sum)
    hvd.barrier()
    if rank != 0:
        handle = hvd.allreduce_async(torch.ones(1), name="still under way", op=hvd.Sum)
    assert hvd.synchronize(handle).item() == size


def test_join_takes_a_device(size: int) -> None:
    last: Any = hvd.join(-1)
    assert 0 <= last < size
    assert 0 <= hvd.join(device=0) < size
