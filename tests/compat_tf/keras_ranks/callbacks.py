"""Callbacks of fit()."""

from typing import Any, List

import numpy as np
import pytest
from whole_and_parts import (
    BATCH,
    EPOCHS,
    STEPS,
    WHICH,
    all_close,
    fit,
    hvd,
    keras,
    model,
    part,
    weights,
)

from horovod._keras.momentum import optimizer_of


class _Watch(keras.callbacks.Callback):  # type: ignore[misc]
    """Remembers the learning rate of every batch."""

    def __init__(self) -> None:
        super().__init__()
        self.rates: List[float] = []
        self.logs: List[Any] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.rates.append(float(np.array(self.model.optimizer.learning_rate)))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.logs.append(dict(logs or {}))


def test_broadcast_once(rank: int, size: int) -> None:
    made = model()
    made.set_weights([w + rank for w in made.get_weights()])
    made.compile(hvd.DistributedOptimizer(keras.optimizers.Adam(0.01)), "mse")
    callback = hvd.callbacks.BroadcastGlobalVariablesCallback(size - 1)
    fit(made, part(), BATCH, callbacks=[callback])
    flat = np.concatenate([w.ravel() for w in weights(made)])
    everybodys = np.array(hvd.allgather(flat[None]))
    assert np.allclose(everybodys, everybodys[:1])
    variables = made.optimizer.variables
    variables = variables() if callable(variables) else variables
    flat = np.concatenate([np.array(v, dtype="float64").ravel() for v in variables])
    everybodys = np.array(hvd.allgather(flat[None]))
    assert np.allclose(everybodys, everybodys[:1])


def test_broadcast_leaves_local_variables(rank: int, size: int) -> None:
    made = model()
    kernel = made.layers[-1].trainable_weights[0]
    made.set_weights([w * 0 + rank for w in made.get_weights()])
    made.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
    callback = hvd.callbacks.BroadcastGlobalVariablesCallback(0, local_variables=[kernel])
    fit(made, part(), BATCH, callbacks=[callback])
    assert np.allclose(np.array(kernel), rank)
    assert np.allclose(weights(made)[0], 0)
    with pytest.raises(ValueError):
        hvd.callbacks.BroadcastGlobalVariablesCallback(0, local_variables="kernel")


def test_metrics_are_averaged(rank: int, size: int) -> None:
    made = model()
    made.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"], run_eagerly=True)
    watch = _Watch()
    callbacks = [hvd.callbacks.MetricAverageCallback(), watch]
    x, y = part()
    fit(made, (x, y + rank), BATCH, callbacks=callbacks)
    mine = float(made.evaluate(x, y + rank, batch_size=BATCH, verbose=0)[0])
    mean = float(np.array(hvd.allreduce([mine]))[0])
    assert np.isclose(watch.logs[-1]["loss"], mean, rtol=1e-3)
    losses = np.array(hvd.allgather([watch.logs[-1]["mae"]]))
    assert np.allclose(losses, losses[0])


def test_warmup(size: int) -> None:
    made = model()
    made.compile(hvd.DistributedOptimizer(keras.optimizers.SGD(0.4, momentum=0.9)), "mse")
    watch = _Watch()
    warmup = hvd.callbacks.LearningRateWarmupCallback(0.4, warmup_epochs=EPOCHS, verbose=1)
    fit(made, part(), BATCH, callbacks=[warmup, watch])
    steps = STEPS * EPOCHS
    expected = [
        0.4 / size * ((i + 1) / STEPS * (size - 1) / EPOCHS + 1) for i in range(steps)
    ]
    assert np.allclose(watch.rates, expected) and np.isclose(expected[-1], 0.4)
    assert float(np.array(made.optimizer.momentum)) == pytest.approx(0.9)


def test_schedules() -> None:
    made = model()
    made.compile(keras.optimizers.SGD(1.0), "mse", run_eagerly=True)
    watch = _Watch()
    constant = hvd.callbacks.LearningRateScheduleCallback(0.1, 0.5, momentum_correction=False)
    fit(made, part(), BATCH, callbacks=[constant, watch])
    assert np.allclose(watch.rates, [0.1] * STEPS + [0.05] * STEPS)
    watch = _Watch()
    late = hvd.callbacks.LearningRateScheduleCallback(0.1, lambda e: 1 + e, start_epoch=1)
    made.compile(keras.optimizers.SGD(1.0), "mse", run_eagerly=True)
    fit(made, part(), BATCH, callbacks=[late, watch])
    assert np.allclose(watch.rates, [1.0] * STEPS + [0.2] * STEPS)
    assert np.isclose(watch.logs[-1].get("lr", 0.2), 0.2)
    with pytest.raises(ValueError, match="initial_lr"):
        hvd.callbacks.LearningRateScheduleCallback(None, 1.0)


class _Momentum(keras.callbacks.Callback):  # type: ignore[misc]
    """Remembers the momentum of every batch."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: List[float] = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.seen.append(float(np.array(optimizer_of(self.model).momentum)))


def _doubling(correct: bool = True) -> Any:
    return hvd.callbacks.LearningRateScheduleCallback(
        0.1, lambda e: 2.0**e, momentum_correction=correct
    )


def test_momentum_is_corrected() -> None:
    made = model()
    made.compile(keras.optimizers.SGD(0.1, momentum=0.5), "mse")
    look = _Momentum()
    for _ in range(2):
        fit(made, part(), BATCH, callbacks=[_doubling(), look])
    # Back from 0.2 to 0.1 where the second training begins.
    once = [1.0] + [0.5] * (STEPS - 1)
    assert np.allclose(look.seen, [0.5] * STEPS + once + [0.25] + [0.5] * (STEPS - 1) + once)
    assert float(np.array(made.optimizer.get_config()["momentum"])) == 0.5


@pytest.mark.parametrize(
    "optimizer, trained_before", [("SGD", False), ("SGD", True), ("RMSprop", False)]
)
def test_corrected_momentum_reaches_the_weights(
    optimizer: str, trained_before: bool, one_rank: None
) -> None:
    def trained(eagerly: bool, correct: bool = True, **how: Any) -> Any:
        made = model()
        chosen = getattr(keras.optimizers, optimizer)(0.1, momentum=0.5)
        made.compile(chosen, "mse", run_eagerly=eagerly, **how)
        if trained_before:  # so that there is a graph already
            fit(made, part(), BATCH)
        fit(made, part(), BATCH, callbacks=[_doubling(correct)])
        return weights(made)

    # Without a graph Keras reads the number in every step.
    by_steps = trained(True)
    assert all_close(trained(False), by_steps)
    if trained_before:
        return
    assert not all_close(trained(True, correct=False), by_steps)
    if WHICH == "tensorflow" and optimizer == "SGD":  # not distributed: any TensorFlow can
        assert all_close(trained(False, jit_compile=True), by_steps)


@pytest.mark.skipif(WHICH != "tensorflow", reason="Keras 3 on TensorFlow")
def test_momentum_behind_a_loss_scale() -> None:
    made = model()
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1, momentum=0.5))
    made.compile(hvd.DistributedOptimizer(scaled), "mse")
    look = _Momentum()
    fit(made, part(), BATCH, callbacks=[_doubling(), look])
    assert np.allclose(look.seen, [0.5] * STEPS + [1.0] + [0.5] * (STEPS - 1))


@pytest.mark.skipif(WHICH != "tensorflow", reason="Keras 3 on TensorFlow")
def test_momentum_that_is_a_constant_is_said_to_be(
    one_rank: None, recwarn: pytest.WarningsRecorder
) -> None:
    class Strange(keras.optimizers.SGD):  # type: ignore[misc]
        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            step = gradient * keras.ops.cast(learning_rate, variable.dtype)
            self.assign_sub(variable, step * (2.0 - self.momentum))

    made = model()
    made.compile(Strange(0.1, momentum=0.5), "mse")
    fit(made, part(), BATCH, callbacks=[_doubling()])
    said = [w for w in recwarn if "has its momentum as a constant" in str(w.message)]
    assert len(said) == 1 and "Strange" in str(said[0].message)


def test_best_model(tmp_path: Any) -> None:
    made = model()
    made.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
    best = hvd.callbacks.BestModelCheckpoint(monitor="loss")
    best.filepath = str(tmp_path / "best.keras")
    fit(made, part(), BATCH, callbacks=[best])
    assert all_close(weights(keras.models.load_model(best.filepath)), weights(made))
