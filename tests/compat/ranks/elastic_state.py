"""States of elastic training, and the sampler that goes on where it was."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from training import OPTIMIZERS, batches, distributed, loss, network, part, weights

import horovod.torch as hvd
from horovod.common.elastic import ObjectState, State
from horovod.torch.elastic import ElasticSampler, TorchState
from horovod.torch.elastic.state import (
    ModelStateHandler,
    OptimizerStateHandler,
    SamplerStateHandler,
    StateHandler,
    get_handler_registry,
    set_handler_registry,
)


def same(a: Any, b: Any) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b))


def step(model: torch.nn.Module, optimizer: Any, batch: int = 0) -> None:
    optimizer.zero_grad()
    loss(model, part(batches(3)[batch])).backward()
    optimizer.step()


# --- states


def test_state_is_to_be_implemented(rank: int) -> None:
    state = State(lambda obj: obj, hvd.rank)
    for method in (state.save, state.restore, state.sync, state.commit):
        with pytest.raises(NotImplementedError):
            method()
    state.reset()
    state.on_reset()
    state.check_host_updates()


def test_objects(rank: int, size: int) -> None:
    shared = [rank]
    state = ObjectState(hvd.broadcast_object, hvd.rank, number=rank, items=shared)
    assert state.number == rank and state.items is shared
    state.number = 10 + rank
    state.other = rank  # not tracked
    state.restore()
    assert state.number == rank
    state.number = 20 + rank
    state.save()
    state.number = 30 + rank
    state.sync()
    assert state.number == 20, "what rank 0 has saved, not what it has"
    assert state.items == [0] and state.other == rank
    state.number = 40
    state.restore()
    assert state.number == 20
    shared.append(7)
    assert (state.items == [0, 7]) == (rank == 0), "kept by reference"


def test_no_objects_no_sync() -> None:
    def never(obj: Any) -> Any:
        raise AssertionError

    ObjectState(never, hvd.rank).sync()


@pytest.mark.parametrize("kind", ["SGD momentum", "Adam"])
@pytest.mark.parametrize("wrap", [False, True], ids=["plain", "distributed"])
def test_models_and_optimizers(kind: str, wrap: bool, rank: int) -> None:
    model = network()
    optimizer = OPTIMIZERS[kind](model.parameters())
    if wrap:
        optimizer = distributed(model, OPTIMIZERS[kind])
    state = TorchState(model=model, optimizer=optimizer, batch=0)
    assert state.model is model and state.optimizer is optimizer
    start = weights(model)

    def two_steps() -> list[torch.Tensor]:
        step(model, optimizer, 1)
        step(model, optimizer, 2)
        return weights(model)

    first = two_steps()
    for _ in range(2):  # the copy is not used up, nor does training change it
        state.restore()
        assert same(weights(model), start) and not optimizer.state
        assert same(two_steps(), first)
    state.commit()
    second = two_steps()
    for _ in range(2):
        state.restore()
        assert same(weights(model), first)
        assert same(two_steps(), second)


def test_sync_gives_what_rank_0_has(rank: int, size: int) -> None:
    model, other = network(), network()
    for m in (model, other):
        for p in m.parameters():
            torch.nn.init.constant_(p, float(rank))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5 + rank, momentum=0.5)
    state = TorchState(model, optimizer, other=other, batch=rank, sampler=ElasticSampler([0] * 9))
    state.sampler.epoch, state.sampler.processed_num = 5 + rank, 2 + rank
    state.sync()
    assert all(w.eq(0).all() for m in (model, other) for w in weights(m))
    assert optimizer.param_groups[0]["lr"] == 0.5 and state.batch == 0
    assert state.sampler.state_dict() == {"epoch": 5, "processed_num": 2}
    assert len(state.sampler.remaining_indices) == 7
    state.restore()
    assert all(w.eq(rank).all() for w in weights(model)), "sync() does not save"


def test_without_a_model() -> None:
    state = TorchState(batch=3)
    assert state.model is None and state.optimizer is None
    state.batch = 4
    state.restore()
    state.sync()
    assert state.batch == 3


def test_another_value(rank: int) -> None:
    """What is assigned to a handled attribute is handled and saved."""
    state = TorchState(model=network(), batch=0)
    other = torch.nn.Linear(2, 1)
    start = weights(other)
    state.model = other
    torch.nn.init.zeros_(other.weight)
    state.restore()
    assert state.model is other and same(weights(other), start)


@pytest.fixture
def registry() -> Iterator[Any]:
    before = get_handler_registry()
    assert before == [
        (torch.nn.Module, ModelStateHandler),
        (torch.optim.Optimizer, OptimizerStateHandler),
        (ElasticSampler, SamplerStateHandler),
    ]
    yield before
    set_handler_registry(before)


class Counter:
    def __init__(self) -> None:
        self.n = 1


class CounterHandler(StateHandler):
    def __init__(self, value: Counter) -> None:
        super().__init__(value)
        self.save()

    def save(self) -> None:
        self.kept = self.value.n

    def restore(self) -> None:
        self.value.n = self.kept

    def sync(self) -> None:
        self.value.n = hvd.broadcast_object(self.value.n, 0)


def test_handlers_of_ones_own(registry: Any, rank: int) -> None:
    class Silent(ModelStateHandler):
        def sync(self) -> None:
            pass

    set_handler_registry([(Counter, CounterHandler), (torch.nn.Module, Silent), *registry])
    model = network()
    torch.nn.init.constant_(model[0].bias, float(rank))
    state = TorchState(model=model, counter=Counter())
    state.counter.n = 5 + rank
    state.restore()
    assert state.counter.n == 1
    state.counter.n = 5 + rank
    state.sync()
    assert state.counter.n == 5
    assert model[0].bias.eq(rank).all(), "the first that fits is taken"
    base = StateHandler(3)
    for method in (base.save, base.restore, base.sync):
        with pytest.raises(NotImplementedError):
            method()
    assert base.value == 3


# --- the sampler

TEN = {  # ten samples in their order, for each number of ranks
    1: [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    2: [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]],
    3: [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]],
    4: [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]],
}
AFTER_ONE_BATCH = {  # of two on each rank
    1: [[2, 3, 4, 5, 6, 7, 8, 9]],
    2: [[4, 6, 8], [5, 7, 9]],
    3: [[6, 9], [7, 6], [8, 7]],
    4: [[8], [9], [8], [9]],
}


def test_parts_of_a_dataset(rank: int, size: int) -> None:
    sampler = ElasticSampler(range(10), shuffle=False)
    assert list(sampler) == TEN[size][rank] and len(sampler) == len(TEN[size][rank])
    assert (sampler.rank, sampler.num_replicas) == (rank, size)
    assert (sampler.epoch, sampler.processed_num, sampler.processed_indices) == (0, 0, set())
    assert sampler.total_size == size * len(sampler) and sampler.num_samples == len(sampler)
    sampler.record_batch(0, 2)
    assert sampler.processed_num == 2 * size
    assert list(sampler) == TEN[size][rank], "the epoch goes on as it was"
    kept = sampler.state_dict()
    assert kept == {"epoch": 0, "processed_num": 2 * size}
    sampler.reset()
    assert list(sampler) == AFTER_ONE_BATCH[size][rank]
    assert len(sampler) == len(AFTER_ONE_BATCH[size][rank])
    sampler.set_epoch(1)
    assert list(sampler) == TEN[size][rank] and sampler.processed_num == 0
    sampler.load_state_dict(kept)
    assert list(sampler) == AFTER_ONE_BATCH[size][rank] and sampler.epoch == 0


def test_shuffled(rank: int, size: int) -> None:
    sampler = ElasticSampler(range(11), seed=3)
    for epoch in (0, 1, 4):
        sampler.set_epoch(epoch)
        order = list(range(11))
        random.Random(3 + epoch).shuffle(order)
        assert sampler.remaining_indices == order
        everybodys = hvd.allgather_object(list(sampler))
        assert {i for mine in everybodys for i in mine} == set(range(11))
        assert len({len(mine) for mine in everybodys}) == 1
        assert everybodys[rank][0] == order[rank]


def test_fewer_samples_than_ranks(size: int) -> None:
    assert list(ElasticSampler([7])) == [0]
    empty = ElasticSampler([])
    assert list(empty) == [] and len(empty) == 0
    used = ElasticSampler(range(2), shuffle=False)
    used.record_batch(0, 5)
    used.reset()
    assert list(used) == []


def test_in_a_loader(rank: int, size: int) -> None:
    data = torch.arange(10)
    sampler = ElasticSampler(data, shuffle=False)
    loader = torch.utils.data.DataLoader(data, sampler=sampler, batch_size=2)
    seen: list[int] = []
    for i, batch in enumerate(loader):
        seen += batch.tolist()
        sampler.record_batch(i, len(batch))
    assert seen == TEN[size][rank]
    assert sampler.processed_num == sampler.total_size
