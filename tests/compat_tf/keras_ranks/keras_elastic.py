"""Elastic training by fit(): what was interrupted ends as if it had not been."""

from typing import Any, List, Tuple

import numpy as np
import pytest
from whole_and_parts import BATCH, STEPS, WHICH, hvd, keras, model, part, weights

from horovod.common.exceptions import HorovodInternalError

EPOCHS = 2
Callback = keras.callbacks.Callback


class Fail(Callback):  # type: ignore[misc]
    """Raises on one rank in one batch of all, the first time that training comes along."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at, self.seen = at, 0

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.seen += 1
        if self.seen == self.at and hvd.rank() == hvd.size() - 1:
            raise HorovodInternalError("on purpose")


def made() -> Any:
    keras.utils.set_random_seed(3)
    layers = keras.layers
    # The seed of a layer is a part of the state in Keras 3.
    between = [] if WHICH == "legacy" else [layers.Dropout(0.5, seed=1)]
    return model([layers.Dense(6, activation="tanh"), *between, layers.Dense(1)])


def trained(*callbacks: Any) -> Tuple[List[Any], List[str]]:
    """Weights after EPOCHS, and what happened."""
    its = made()
    optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
    its.compile(hvd.DistributedOptimizer(optimizer), "mse")
    state = hvd.elastic.KerasState(its, epoch=0, batch=0)
    events: List[str] = []
    state.register_reset_callbacks([lambda: events.append("reset")])

    @hvd.elastic.run
    def train(state: Any) -> List[Any]:
        events.append("train")
        its.fit(
            *part(),
            batch_size=BATCH,
            epochs=EPOCHS - state.epoch,
            shuffle=False,
            verbose=0,
            callbacks=[
                hvd.elastic.UpdateEpochStateCallback(state),
                hvd.elastic.CommitStateCallback(state, batches_per_commit=100),
                *callbacks,
            ],
        )
        assert state.epoch == EPOCHS
        return weights(its)

    return train(state), events


def test_an_interrupted_run_ends_like_another(rank: int, size: int) -> None:
    right, events = trained()
    assert events == ["train"]
    result, events = trained(Fail(STEPS + 2))
    assert events == ["train", "reset", "train"]
    assert all(np.array_equal(a, b) for a, b in zip(result, right))


def test_sync_gives_what_rank_0_has(rank: int) -> None:
    its = made()
    its.compile(keras.optimizers.Adam(0.01 * (rank + 1)), "mse")
    its.set_weights([w * 0 + rank for w in its.get_weights()])
    state = hvd.elastic.KerasState(its, epoch=5 + rank)
    assert state.model is its and state.optimizer is its.optimizer
    state.sync()
    assert all((w == 0).all() for w in weights(its)) and state.epoch == 5
    if WHICH != "legacy":
        assert np.isclose(np.array(its.optimizer.learning_rate), 0.01)
    its.set_weights([w + 1 for w in its.get_weights()])
    state.epoch = 9
    state.restore()
    assert all((w == 0).all() for w in weights(its)) and state.epoch == 5


def test_a_model_must_be_built() -> None:
    with pytest.raises(ValueError, match="Model must be built first"):
        hvd.elastic.KerasState(keras.Sequential([keras.layers.Dense(1)]))


class Notes:
    """Stands for a state."""

    def __init__(self, **kwargs: Any) -> None:
        self.__dict__.update(kwargs)
        self.commits: List[int] = []
        self.batches = 0

    def commit(self) -> None:
        self.commits.append(self.batches)


class Watch(Callback):  # type: ignore[misc]
    """Notes batches and announced steps."""

    def __init__(self, state: Notes) -> None:
        super().__init__()
        self.state = state
        self.steps: List[Any] = []
        self.done: List[int] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.steps.append(self.params["steps"])
        self.done.append(0)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.state.batches += 1

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.done[-1] += 1
        if hasattr(self.state, "batch"):
            assert self.state.batch == batch


def fitted(*callbacks: Any, epochs: int = 2) -> None:
    its = model()
    its.compile(keras.optimizers.SGD(0.01), "mse", run_eagerly=True)
    its.fit(
        *part(), batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0, callbacks=[*callbacks]
    )


def test_commits() -> None:
    state = Notes()
    commit = hvd.elastic.CommitStateCallback(state, batches_per_commit=2)
    fitted(Watch(state), commit)
    assert STEPS == 3 and state.commits == [2, 3, 4, 6, 6]
    state = Notes()
    fitted(Watch(state), hvd.elastic.CommitStateCallback(state), epochs=1)
    assert state.commits == [1, 2, 3, 3]


def test_an_epoch_that_was_begun_is_only_finished() -> None:
    state = Notes(batch=2)
    watch = Watch(state)
    fitted(hvd.elastic.UpdateBatchStateCallback(state), watch, epochs=3)
    assert watch.steps == [STEPS - 2, STEPS, STEPS] and watch.done == [STEPS - 2, STEPS, STEPS]
    assert state.batch == 0

    class Stop(Callback):  # type: ignore[misc]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.stop_training = True

    state = Notes(batch=1)
    watch = Watch(state)
    fitted(Stop(), hvd.elastic.UpdateBatchStateCallback(state), watch)
    assert watch.done == [STEPS - 1], "who ends the training ends it"


def test_epochs_are_counted_on() -> None:
    state = Notes(epoch=4)
    fitted(hvd.elastic.UpdateEpochStateCallback(state))
    assert state.epoch == 6


@pytest.mark.skipif(WHICH != "legacy", reason="Keras 3 has no sessions")
def test_in_a_graph_of_tensorflow_1(rank: int) -> None:
    import tensorflow as tf

    with tf.Graph().as_default():
        its = made()
        its.compile(keras.optimizers.legacy.SGD(0.05, momentum=0.9), "mse")
        its.set_weights([w * 0 + rank + 1 for w in its.get_weights()])
        state = hvd.elastic.KerasState(its, epoch=rank)
        state.sync()
        assert all((w == 1).all() for w in its.get_weights()) and state.epoch == 0
        its.set_weights([w + 7 for w in its.get_weights()])
        state.commit()
        its.set_weights([w + 7 for w in its.get_weights()])
        state.restore()
        assert all((w == 8).all() for w in its.get_weights())
