"""DistributedOptimizer: all ranks together train as one process on the joined batch."""

from typing import Any

import numpy as np
import pytest
from whole_and_parts import (
    BATCH,
    WHICH,
    all_close,
    fit,
    hvd,
    keras,
    model,
    part,
    weights,
    whole,
)

optimizers = keras.optimizers
OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optimizers.Adam(0.05),
    "rmsprop": lambda: optimizers.RMSprop(0.01),
    "clipped": lambda: optimizers.Adagrad(0.1, clipnorm=0.01),
    "decaying": lambda: optimizers.SGD(optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)),
}
if WHICH == "tensorflow":
    OPTIMIZERS["scaled"] = lambda: optimizers.LossScaleOptimizer(
        optimizers.SGD(0.1), initial_scale=4.0
    )
if WHICH == "legacy":
    OPTIMIZERS["legacy"] = lambda: optimizers.legacy.SGD(0.1, momentum=0.5)
by_optimizer = pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
EAGER = [False, True]


def _alone(make: Any) -> Any:
    made = model()
    made.compile(make(), "mse", run_eagerly=True)  # no graph to make
    fit(made, whole(), BATCH * hvd.size())
    return weights(made)


@by_optimizer
def test_fit(make: Any) -> None:
    made = model()
    made.compile(hvd.DistributedOptimizer(make()), "mse")
    fit(made, part(), BATCH)
    assert all_close(weights(made), _alone(make))
    # Bit for bit the same on all ranks.
    flat = np.concatenate([w.ravel() for w in weights(made)])
    everybodys = np.array(hvd.allgather(flat[None]))
    assert len(everybodys) == hvd.size() and (everybodys == everybodys[0]).all()


def test_fit_eagerly() -> None:
    made = model()
    made.compile(hvd.DistributedOptimizer(optimizers.Adam(0.05)), "mse", run_eagerly=True)
    fit(made, part(), BATCH)
    assert all_close(weights(made), _alone(lambda: optimizers.Adam(0.05)))


@pytest.mark.skipif(WHICH != "tensorflow", reason="Keras 3 on TensorFlow")
def test_fit_compiled_by_xla() -> None:
    from horovod.tensorflow import _xla

    def fitted(**how: Any) -> Any:
        made = model()
        made.compile(hvd.DistributedOptimizer(optimizers.Adam(0.05)), "mse", **how)
        losses = fit(made, part(), BATCH).history["loss"]
        return weights(made), losses, made.jit_compile

    if not _xla.available():
        with pytest.raises(NotImplementedError, match="jit_compile=False .*to model.compile"):
            fitted(jit_compile=True)
        return
    compiled, losses, jit = fitted(jit_compile=True)
    plain, its_losses, its_jit = fitted(jit_compile=False)
    assert jit and not its_jit
    assert np.allclose(losses, its_losses, rtol=1e-4)
    assert all_close(compiled, plain)
    assert all_close(compiled, _alone(lambda: optimizers.Adam(0.05)))


def test_train_on_batch() -> None:
    made = model()
    made.compile(hvd.DistributedOptimizer(optimizers.SGD(0.1)), "mse")
    other = model()
    other.compile(optimizers.SGD(0.1), "mse", run_eagerly=True)
    (x, y), (px, py) = whole(), part()
    n = BATCH * hvd.size()
    for step in range(3):
        other.train_on_batch(x[step * n : step * n + n], y[step * n : step * n + n])
        made.train_on_batch(
            px[step * BATCH : step * BATCH + BATCH], py[step * BATCH : step * BATCH + BATCH]
        )
    assert all_close(weights(made), weights(other))


@pytest.mark.parametrize(
    "options",
    [
        {"groups": 2, "gradient_predivide_factor": 2.0},
        {"compression": hvd.Compression.fp16, "sparse_as_dense": True},
    ],
    ids=str,
)
def test_options(options: Any) -> None:
    made = model()
    made.compile(hvd.DistributedOptimizer(optimizers.SGD(0.1), **options), "mse")
    fit(made, part(), BATCH)
    assert all_close(weights(made), _alone(lambda: optimizers.SGD(0.1)), 1e-3)


def test_sum(size: int) -> None:
    made = model()
    made.compile(hvd.DistributedOptimizer(optimizers.SGD(0.1 / size), op=hvd.Sum), "mse")
    fit(made, part(), BATCH)
    assert all_close(weights(made), _alone(lambda: optimizers.SGD(0.1)))


@pytest.mark.skipif(WHICH == "torch", reason="gradients of TensorFlow")
@pytest.mark.parametrize("eagerly", EAGER)
@pytest.mark.parametrize("way", ["apply_gradients", "apply", "minimize", "tape"])
def test_whatever_applies(way: str, eagerly: bool, rank: int, size: int) -> None:
    import tensorflow as tf

    import horovod.tensorflow as hvd_tf

    if way == ("apply" if WHICH == "legacy" else "minimize"):
        pytest.skip("not in this Keras")
    weight = tf.Variable([1.0, 2.0])
    sparse = tf.Variable(tf.ones([4, 2]))
    # Summing shows how often: averaging twice is averaging.
    optimizer = hvd.DistributedOptimizer(optimizers.SGD(0.1), op=hvd.Sum)

    def loss() -> Any:
        rows = tf.gather(sparse, [0, 1])
        return float(rank + 1) * (tf.reduce_sum(weight) + tf.reduce_sum(rows))

    def step() -> None:
        if way == "minimize":
            optimizer.minimize(loss, [weight, sparse])
            return
        with tf.GradientTape() as tape:
            value = loss()
        if way == "tape":
            tape = hvd_tf.DistributedGradientTape(tape, op=hvd.Sum)
        gradients = tape.gradient(value, [weight, sparse])
        if way == "apply":
            optimizer.apply(gradients, [weight, sparse])
        else:
            optimizer.apply_gradients(zip(gradients, [weight, sparse]))

    optimizer.build([weight, sparse])
    (step if eagerly else tf.function(step))()
    change = 0.1 * sum(range(1, size + 1))
    assert np.allclose(weight.numpy(), [1 - change, 2 - change])
    assert np.allclose(sparse.numpy()[:, 0], [1 - change, 1 - change, 1, 1])


@pytest.mark.skipif(WHICH == "legacy", reason="Keras 3")
@pytest.mark.parametrize("way", ["apply_gradients", "apply", "apply to known", "stateless_apply"])
def test_whatever_applies_to_keras_variables(way: str, rank: int, size: int) -> None:
    if way == "stateless_apply" and WHICH == "tensorflow":
        pytest.skip("Keras refuses it on TensorFlow")
    weight, other = keras.Variable([1.0, 2.0]), keras.Variable([[1.0]])
    gradients = [keras.ops.ones([2]) * (rank + 1), keras.ops.ones([1, 1]) * (rank + 1)]
    optimizer = hvd.DistributedOptimizer(optimizers.SGD(0.1), op=hvd.Sum)
    optimizer.build([weight, other])
    if way == "apply_gradients":
        optimizer.apply_gradients(zip(gradients, [weight, other]))
    elif way == "apply":
        optimizer.apply(gradients, [weight, other])
    elif way == "apply to known":
        optimizer.apply(gradients)
    else:
        values, _ = optimizer.stateless_apply(
            [v.value for v in optimizer.variables], gradients, [weight.value, other.value]
        )
        weight.assign(values[0])
        other.assign(values[1])
    change = 0.1 * sum(range(1, size + 1))
    assert np.allclose(np.array(weight), [1 - change, 2 - change])
    assert np.allclose(np.array(other), [[1 - change]])


@pytest.mark.skipif(WHICH != "tensorflow", reason="Keras 3 on TensorFlow")
@pytest.mark.parametrize("distributed_first", [True, False])
@pytest.mark.parametrize("eagerly", EAGER)
def test_steps_left_out_are_left_out_by_all(
    distributed_first: bool, eagerly: bool, rank: int, size: int
) -> None:
    import tensorflow as tf

    scaled = optimizers.LossScaleOptimizer
    if distributed_first:
        optimizer = scaled(hvd.DistributedOptimizer(optimizers.SGD(0.1)), initial_scale=4.0)
    else:
        optimizer = hvd.DistributedOptimizer(scaled(optimizers.SGD(0.1), initial_scale=4.0))
    weight = keras.Variable([1.0])
    optimizer.build([weight])

    def step(gradient: Any) -> None:
        optimizer.apply([gradient], [weight])

    step = step if eagerly else tf.function(step)
    step(tf.constant([np.inf if rank == 0 else 1.0]))
    assert float(weight[0]) == 1.0 and float(optimizer.dynamic_scale) == 2.0
    step(tf.constant([2.0 * (rank + 1)]))
    assert np.isclose(float(weight[0]), 1 - 0.1 * (1 + size) / 2)


@pytest.mark.skipif(WHICH == "legacy", reason="an argument of the other package")
@pytest.mark.parametrize("average", [False, True])
def test_several_passes_a_step(average: bool, size: int) -> None:
    # Two batches added up, or averaged, are one of twice the size.
    made = model()
    rate = 0.1 if average else 0.05
    optimizer = hvd.PartialDistributedOptimizer(
        optimizers.SGD(rate), backward_passes_per_step=2, average_aggregated_gradients=average
    )
    made.compile(optimizer, "mse")
    other = model()
    other.compile(optimizers.SGD(0.1), "mse", run_eagerly=True)
    (x, y), (px, py) = whole(), part()
    before = weights(made)
    for _ in range(2):
        made.train_on_batch(px[:BATCH], py[:BATCH])
        assert all_close(weights(made), before)
        made.train_on_batch(px[BATCH : 2 * BATCH], py[BATCH : 2 * BATCH])
        other.train_on_batch(x[: 2 * BATCH * size], y[: 2 * BATCH * size])
        before = weights(made)
        assert all_close(before, weights(other))
    assert int(optimizer.iterations) == 4


@pytest.mark.skipif(WHICH == "legacy", reason="not in the other package")
def test_local_layers(rank: int, size: int) -> None:
    own = keras.layers.Dense(1, kernel_initializer="ones")
    shared = keras.layers.Dense(2, kernel_initializer="ones")
    made = model([shared, own])
    optimizer = hvd.PartialDistributedOptimizer(optimizers.SGD(0.1), local_layers=own)
    made.compile(optimizer, "mse")
    made.train_on_batch(*(a[:BATCH] for a in part()))
    kernels = hvd.allgather(np.array(shared.kernel)[None])
    assert np.allclose(np.array(kernels), np.array(kernels)[:1])
    if size > 1:
        kernels = np.array(hvd.allgather(np.array(own.kernel)[None]))
        assert not np.allclose(kernels[0], kernels[1])
    with pytest.raises(ValueError, match="All local layers must be"):
        hvd.PartialDistributedOptimizer(optimizers.SGD(0.1), local_layers=["dense"])


@pytest.mark.skipif(WHICH != "tensorflow", reason="Keras 3 on TensorFlow")
def test_keras_does_not_choose_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf

    gpu = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    hvd.DistributedOptimizer(optimizers.SGD(0.1))
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda *args: [gpu])
    made = model()
    made.compile(optimizers.SGD(0.1), "mse")
    assert made.jit_compile
    made.compile(hvd.DistributedOptimizer(optimizers.SGD(0.1)), "mse")
    assert not made.jit_compile


def test_class_and_settings() -> None:
    optimizer = hvd.DistributedOptimizer(optimizers.Adam(0.25, beta_1=0.5))
    assert isinstance(optimizer, optimizers.Adam) and type(optimizer).__name__ == "Adam"
    assert np.isclose(float(np.array(optimizer.learning_rate)), 0.25)
    assert optimizer.get_config()["beta_1"] == 0.5
    with pytest.raises(ValueError, match="already"):
        hvd.DistributedOptimizer(optimizer)


def test_mistakes() -> None:
    for wrong in (
        {"op": 2},
        {"groups": 0},
        {"groups": "two"},
        {"op": hvd.Sum, "gradient_predivide_factor": 2.0},
    ):
        with pytest.raises(ValueError):
            hvd.DistributedOptimizer(optimizers.SGD(0.1), **wrong)


def test_values(rank: int, size: int) -> None:
    assert np.allclose(np.array(hvd.allreduce([float(rank)])), (size - 1) / 2)
    assert np.allclose(
        np.array(hvd.allreduce([1.0], average=None, op=hvd.Sum)), size
    )
    assert np.array(hvd.allgather([rank])).tolist() == list(range(size))
    assert np.array(hvd.broadcast([rank], size - 1)).tolist() == [size - 1]
    assert len(np.array(hvd.reducescatter(np.ones([2 * size], "float32")))) == 2
