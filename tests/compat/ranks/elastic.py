"""Elastic training in a job whose ranks stay: what was interrupted ends as if it had not been."""

import threading
from typing import Any, Callable, Iterator

import pytest
import torch
from training import (
    OPTIMIZERS,
    batches,
    close,
    distributed,
    loss,
    network,
    part,
    same_everywhere,
    weights,
)

import horovod.torch as hvd
from horovod.common.elastic import notification_manager
from horovod.common.exceptions import HostsUpdatedInterrupt
from horovod.runner.elastic.worker import HostUpdateResult
from horovod.torch.elastic import ElasticSampler, TorchState

STEPS = 7
SGD, ADAM = OPTIMIZERS["SGD momentum"], OPTIMIZERS["Adam"]
Fail = Callable[[str, int], None]


def nothing(place: str, batch: int) -> None:
    """No failure."""


class Once:
    """Fails at one place of one batch, the first time that training comes along."""

    def __init__(self, place: str, batch: int, how: Callable[[], None]) -> None:
        self.place, self.batch, self.how = place, batch, how
        self.done = False

    def __call__(self, place: str, batch: int) -> None:
        if (place, batch) == (self.place, self.batch) and not self.done:
            self.done = True
            self.how()


def one_rank_raises() -> None:
    if hvd.rank() == hvd.size() - 1:
        raise hvd.HorovodInternalError("on purpose")


def ranks_disagree() -> None:
    if hvd.size() == 1:
        raise hvd.HorovodInternalError("one rank agrees with itself")
    hvd.allreduce(torch.ones(2 + hvd.rank()), name="disagree")


class Watched(TorchState):
    """Notes what happens to it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.events: list[str] = []

    def sync(self) -> None:
        self.events.append("sync")
        super().sync()

    def restore(self) -> None:
        self.events.append("restore")
        super().restore()

    def on_reset(self) -> None:
        self.events.append("reset")
        super().on_reset()


def trained(
    make: Any, fail: Fail, zero_first: bool = True, **how: Any
) -> tuple[list[torch.Tensor], list[str]]:
    """Weights after STEPS batches with a commit after every second, and what happened."""
    model = network()
    optimizer = distributed(model, make, **how)
    state = Watched(model=model, optimizer=optimizer, batch=0)

    @hvd.elastic.run
    def train(state: Watched, data: Any, fail: Fail) -> list[torch.Tensor]:
        while state.batch < STEPS:
            fail("begin", state.batch)
            if zero_first:
                state.optimizer.zero_grad()
            loss(state.model, part(data[state.batch])).backward()
            fail("backward", state.batch)
            state.optimizer.step()
            if not zero_first:
                state.optimizer.zero_grad()
            fail("step", state.batch)
            state.batch += 1
            if state.batch % 2 == 0:
                state.commit()
        return weights(state.model)

    result = train(state, batches(STEPS), fail=fail)
    assert not notification_manager._listeners
    return result, state.events


def same(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b))


@pytest.fixture(autouse=True)
def new_engine(restart: None) -> None:
    """Ranks that failed have made unequal calls."""


@pytest.fixture(scope="module", autouse=True)
def one_order_of_adding_up() -> Iterator[None]:
    """Between hosts algorithms are tried and chosen by their times, each with last bits of its own:
    runs are the same bit for bit only where size alone chooses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOROVODX_SELECTION", "rules")
        hvd.barrier()
        hvd.shutdown()
        hvd.init()
        yield
        hvd.barrier()
    hvd.shutdown()
    hvd.init()


WAYS = {
    "SGD": (SGD, {}),
    "zero_grad after step": (SGD, {"zero_first": False}),
    "Adam in groups": (ADAM, {"groups": 2}),
    # Without momentum: ranks have their own, and sync() gives them that of rank 0.
    "Adasum": (OPTIMIZERS["SGD"], {"op": hvd.Adasum}),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_interrupted_run_ends_like_another(way: str, size: int) -> None:
    """Bit for bit, wherever it was interrupted."""
    make, how = WAYS[way]
    equal = close if way == "Adasum" else same  # what travels together may change its last bit
    if way == "Adasum" and size == 3:
        pytest.skip("Adasum needs a power of two")
    right, events = trained(make, nothing, **how)
    assert events == ["sync"] and same_everywhere(right)
    for place in ("begin", "backward", "step"):
        for batch in (0, 3):
            result, events = trained(make, Once(place, batch, one_rank_raises), **how)
            assert events == ["sync", "restore", "reset", "sync"]
            assert equal(result, right), (place, batch)
    result, events = trained(make, Once("backward", 3, ranks_disagree), **how)
    assert events == ["sync", "restore", "reset", "sync"] and equal(result, right)


def test_several_failures(size: int) -> None:
    right, _ = trained(SGD, nothing)
    fails = [Once("step", batch, one_rank_raises) for batch in (1, 2, 3, 5)]

    def fail(place: str, batch: int) -> None:
        for each in fails:
            each(place, batch)

    result, events = trained(SGD, fail)
    assert same(result, right) and events.count("restore") == 4


def test_it_is_what_a_plain_loop_does() -> None:
    model = network()
    optimizer = distributed(model, SGD)
    for batch in batches(STEPS):
        optimizer.zero_grad()
        loss(model, part(batch)).backward()
        optimizer.step()
    result, _ = trained(SGD, Once("step", 3, one_rank_raises))
    assert same(result, weights(model))


def test_gradients_that_nobody_else_will_send(rank: int, size: int) -> None:
    """All ranks leave a step half done, each with another half: none waits for the others."""
    model = network()
    optimizer = distributed(model, SGD)
    state = TorchState(model=model, optimizer=optimizer, batch=0)
    before = weights(model)
    left = []

    def gradients_of(layer: torch.nn.Module) -> None:
        sum((p**2).sum() for p in layer.parameters()).backward()

    @hvd.elastic.run
    def train(state: TorchState) -> None:
        if state.batch == 0 and len(left) == 0:  # ranks agree on forms here
            gradients_of(model)
            optimizer.step()
            state.optimizer.zero_grad()
            left.append("agreed")
            gradients_of(model[0] if rank == 0 else model[2])
            raise hvd.HorovodInternalError("half done")
        assert same(weights(model), before), "the step before was not committed"
        assert all(p.grad is None for p in model.parameters())
        gradients_of(model)
        optimizer.step()

    train(state)
    after = [w - 0.1 * (2 * w + 0.01 * w) for w in before]
    assert close(weights(model), after) and same_everywhere(weights(model))


# --- hosts that come and go


def told_by_rank_0(kind: HostUpdateResult, timestamp: int) -> None:
    """As the service does when the driver calls: in a thread of its own."""
    if hvd.rank() == 0:
        call = threading.Thread(
            target=notification_manager.handle_hosts_updated, args=(timestamp, kind)
        )
        call.start()
        call.join()


@pytest.mark.parametrize("kind", list(HostUpdateResult)[-2:] + [HostUpdateResult.mixed])
@pytest.mark.parametrize("by", ["commit", "check"])
def test_hosts_updated(kind: HostUpdateResult, by: str, rank: int, size: int) -> None:
    """All ranks start again from where they are; they synchronise unless hosts only went."""
    calls: list[Any] = []
    told: list[int] = []
    state = Watched(model=network(), batch=0, sampler=ElasticSampler(range(10 * size)))
    state.register_reset_callbacks([lambda: calls.append(("first", hvd.size(), state.batch))])
    state.register_reset_callbacks([lambda: calls.append("second")])

    @hvd.elastic.run
    def train(state: Watched) -> str:
        while state.batch < 5:
            state.batch += 1
            state.sampler.record_batch(0, 1)
            if state.batch == 3 and not told:
                told.append(1)
                told_by_rank_0(kind, 1000)
            if by == "commit":
                state.commit()
            else:
                state.check_host_updates()
        return "done"

    assert train(state) == "done"
    if kind == HostUpdateResult.removed:
        assert state.events == ["sync", "reset"]
    else:
        assert state.events == ["sync", "reset", "sync"]
    assert calls == [("first", size, 3), "second"]
    assert state.sampler.processed_num == 5 * size


def test_only_rank_0_is_asked_and_old_news_are_none(rank: int, size: int) -> None:
    state = TorchState(batch=0)
    if rank != 0 or size == 1:
        state.on_hosts_updated(5, HostUpdateResult.added)
    if size > 1:
        state.check_host_updates()
    if rank == 0:
        state.on_hosts_updated(7, HostUpdateResult.removed)
        state.on_hosts_updated(7, HostUpdateResult.added)
    with pytest.raises(HostsUpdatedInterrupt) as interrupt:
        state.check_host_updates()
    assert interrupt.value.skip_sync is False, "the kinds are added up"
    state.on_hosts_updated(7, HostUpdateResult.removed)
    state.check_host_updates()
    state.on_hosts_updated(8, HostUpdateResult.removed)
    with pytest.raises(HostsUpdatedInterrupt) as interrupt:
        state.check_host_updates()
    assert interrupt.value.skip_sync is True
    state.on_hosts_updated(9, HostUpdateResult.removed)
    state.on_reset()
    state.check_host_updates()


# --- errors


def test_other_errors_leave(rank: int) -> None:
    state = TorchState(batch=0)

    @hvd.elastic.run
    def train(state: TorchState) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        train(state)
    assert not notification_manager._listeners
    assert train.__name__ == "train"


def test_an_error_that_stays_is_final(
    rank: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no driver counts, we do; a commit in between starts the count anew."""
    monkeypatch.setenv("HOROVODX_ELASTIC_RESET_LIMIT", "2")
    state = Watched(batch=0)

    @hvd.elastic.run
    def train(state: Watched) -> None:
        for _ in range(len(state.events) - 1):
            if state.batch < 2:
                state.batch += 1
                state.commit()
        ranks_disagree()

    with pytest.raises(RuntimeError, match="3 times without a commit") as error:
        train(state)
    assert not isinstance(error.value, hvd.HorovodInternalError)
    assert isinstance(error.value.__cause__, hvd.HorovodInternalError)
    assert ("Mismatched" in str(error.value)) == (size > 1)
    assert state.events.count("restore") == 3 and state.batch == 2
    monkeypatch.setenv("HOROVODX_ELASTIC_RESET_LIMIT", "some")
    with pytest.raises(ValueError, match="HOROVODX_ELASTIC_RESET_LIMIT is 'some'"):
        train(state)


def test_errors_in_sync_and_callbacks(rank: int, size: int) -> None:
    """They are met like those of training."""
    state = Watched(batch=0)
    fails = [Once("sync", 0, one_rank_raises), Once("callback", 0, one_rank_raises)]

    def callback() -> None:
        fails[1]("callback", 0)
        hvd.barrier()

    state.register_reset_callbacks([callback])
    plain_sync = state.sync

    def sync() -> None:
        fails[0]("sync", 0)
        plain_sync()

    state.sync = sync  # type: ignore[method-assign]
    assert hvd.elastic.run(lambda state, x, y: (x, y))(state, 1, y=2) == (1, 2)
    assert state.events.count("restore") == 2
