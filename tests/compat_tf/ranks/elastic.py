"""Elastic training in a job whose ranks stay: what was interrupted ends as if it had not been."""

from typing import Any, Callable, List, Tuple

import numpy as np
import pytest
import tensorflow as tf

import horovod.tensorflow as hvd
from horovod.common.elastic import notification_manager
from horovod.common.exceptions import HorovodInternalError
from horovod.runner.elastic.worker import HostUpdateResult
from horovod.tensorflow.elastic import TensorFlowState

How = Callable[..., Any]
STEPS = 5


class Once:
    """Fails in one batch, the first time that training comes along."""

    def __init__(self, batch: int, how: Callable[[], Any]) -> None:
        self.batch, self.how, self.done = batch, how, False

    def __call__(self, batch: int) -> None:
        if batch == self.batch and not self.done:
            self.done = True
            self.how()


def one_rank_raises() -> None:
    if hvd.rank() == hvd.size() - 1:
        raise HorovodInternalError("on purpose")


def ranks_disagree() -> None:
    if hvd.size() == 1:
        raise HorovodInternalError("one rank agrees with itself")
    hvd.allreduce(tf.zeros([2 + hvd.rank()]), name="disagree")


class Watched(TensorFlowState):
    """Notes what happens to it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.events: List[str] = []

    def sync(self) -> None:
        self.events.append("sync")
        super().sync()

    def restore(self) -> None:
        self.events.append("restore")
        super().restore()


def trained(how: How, fail: Callable[[int], Any]) -> Tuple[Any, List[str]]:
    """A weight with momentum after STEPS batches, a commit after every second."""
    weight, speed = tf.Variable([1.0, 2.0, 3.0]), tf.Variable(tf.zeros([3]))
    state = Watched([weight, speed], batch=0)

    def step(x: tf.Tensor) -> None:
        with hvd.DistributedGradientTape(tf.GradientTape()) as tape:
            loss = tf.reduce_sum((weight * x) ** 2)
        (gradient,) = tape.gradient(loss, [weight])
        speed.assign(0.9 * speed + gradient)
        weight.assign_sub(0.01 * speed)

    one_step = how(step)

    @hvd.elastic.run
    def train(state: Watched) -> Any:
        while state.batch < STEPS:
            fail(state.batch)
            one_step(tf.constant([0.1, 0.2, 0.3]) * (1.0 + hvd.rank() + state.batch))
            state.batch += 1
            if state.batch % 2 == 0:
                state.commit()
        return weight.numpy()

    return train(state), state.events


def test_an_interrupted_run_ends_like_another(how: How) -> None:
    """The others hear of it by an error of TensorFlow's."""
    right, events = trained(how, lambda batch: None)
    assert events == ["sync"]
    for batch, fail in ((0, one_rank_raises), (3, one_rank_raises), (3, ranks_disagree)):
        result, events = trained(how, Once(batch, fail))
        assert events == ["sync", "restore", "sync"]
        assert np.array_equal(result, right)


def test_sync_gives_what_rank_0_has(rank: int) -> None:
    variable = tf.Variable([float(rank)])
    state = TensorFlowState([variable], epoch=rank)
    assert variable.numpy() == [rank], "nobody talks before training begins"
    state.sync()
    assert variable.numpy() == [0] and state.epoch == 0
    variable.assign([5.0 + rank])
    state.restore()
    assert variable.numpy() == [0], "sync() saves"


def test_errors_of_others_leave() -> None:
    @hvd.elastic.run
    def train(state: Any, error: Exception) -> None:
        raise error

    state = TensorFlowState([], batch=0)
    for error in (
        tf.errors.UnknownError(None, None, "somebody else's"),
        tf.errors.InvalidArgumentError(None, None, "HorovodAllreduce was called wrongly"),
        KeyError("mine"),
    ):
        with pytest.raises(type(error)):
            train(state, error)
    assert not notification_manager._listeners


def test_hosts_updated(rank: int) -> None:
    calls: List[str] = []
    state = Watched([], batch=0)
    state.register_reset_callbacks([lambda: calls.append("reset")])

    @hvd.elastic.run
    def train(state: Watched, kind: HostUpdateResult) -> None:
        while state.batch < 3:
            state.batch += 1
            if state.batch == 2 and rank == 0:
                notification_manager.handle_hosts_updated(100 + int(kind), kind)
            state.check_host_updates()

    train(state, HostUpdateResult.removed)
    assert calls == ["reset"] and state.events == ["sync"] and state.batch == 3
    state.batch = 0
    state.save()
    train(state, HostUpdateResult.added)
    assert calls == ["reset"] * 2 and state.events == ["sync"] * 3 and state.batch == 3


def test_in_a_graph_of_tensorflow_1(rank: int, size: int) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.get_variable("v", initializer=tf.constant([1.0 + rank]))
        reduced = hvd.allreduce(variable + float(rank), op=hvd.Sum, name="sum")
        update = variable.assign(reduced)
        session.run(v1.global_variables_initializer())
        state = Watched(session=session, batch=0)
        fail = Once(1, one_rank_raises)

        @hvd.elastic.run
        def train(state: Watched) -> Any:
            while state.batch < 2:
                fail(state.batch)
                session.run(update)
                state.batch += 1
                state.commit()
            return session.run(variable)

        result = train(state)
        ranks = sum(range(size))
        assert result.tolist() == [size * (size * 1.0 + ranks) + ranks]
        assert state.events == ["sync", "restore", "sync"] and state.batch == 2
