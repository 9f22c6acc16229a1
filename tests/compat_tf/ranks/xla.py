"""Allreduce in functions that XLA compiles, on the CPU."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from values import REDUCED, array, everybodys, same

import horovod.tensorflow as hvd
from horovod.tensorflow import _xla
from horovod.tensorflow._library import native


@pytest.fixture(autouse=True)
def there() -> None:
    if not _xla.available():
        pytest.skip("this TensorFlow does not take custom calls")


def _compiled(f: Any) -> Any:
    return tf.function(f, jit_compile=True, autograph=False)


def test_every_type(rank: int) -> None:
    for dtype in REDUCED:
        for shape in ((), (3, 2)):
            tensors = everybodys("xla", dtype, shape)
            result = _compiled(lambda x: hvd.allreduce(x, op=hvd.Sum) + tf.zeros_like(x))(
                tensors[rank]
            )
            assert same(result, sum(array(t) for t in tensors), dtype)


def test_average_factors_and_groups(rank: int, size: int) -> None:
    def f(x: tf.Tensor) -> Any:
        a, b = hvd.grouped_allreduce([x, 2.0 * x])
        return a, b, hvd.allreduce(x, prescale_factor=2.0, postscale_factor=10.0)

    for _ in range(3):
        a, b, c = _compiled(f)(tf.constant([1.0 + rank]))
        mean = (1 + size) / 2
        assert np.allclose([array(a), array(b), array(c)], [[mean], [2 * mean], [20 * mean]])


def test_a_step_is_one_call(rank: int, size: int) -> None:
    weights = [tf.Variable(tf.ones([3]) * i) for i in range(20)]

    @tf.function(jit_compile=True)
    def step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(w * w * x) for w in weights])
        return hvd.DistributedGradientTape(tape, op=hvd.Sum).gradient(loss, weights)

    native.hvdx_tf_most_in_flight()
    gradients = step(tf.constant(float(rank + 1)))
    total = sum(range(1, size + 1))
    assert all(np.allclose(g, 2 * i * total) for i, g in enumerate(gradients))
    assert native.hvdx_tf_most_in_flight() == (1 if size > 1 else 0)


def test_gradients(rank: int, size: int) -> None:
    @tf.function(jit_compile=True)
    def f(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = hvd.allreduce(x * x, op=hvd.Sum) * float(rank + 1)
        return tape.gradient(y, x)

    assert np.allclose(array(f(tf.constant([3.0]))), 6.0 * sum(range(1, size + 1)))


def test_failures(rank: int, size: int) -> None:
    if size > 1:
        f = _compiled(lambda x: hvd.allreduce(x, name="differ") + 1.0)
        with pytest.raises(tf.errors.OpError, match="Mismatched ALLREDUCE tensor shapes"):
            f(tf.zeros([2 + rank]))
    with pytest.raises(NotImplementedError, match="can't be compiled by XLA"):
        _compiled(hvd.allgather)(tf.zeros([2]))
    unknown = tf.function(
        hvd.allreduce, jit_compile=True, input_signature=[tf.TensorSpec([None])]
    )
    with pytest.raises(NotImplementedError, match="known when the function is traced"):
        unknown(tf.zeros([2]))
    assert float(hvd.allreduce(tf.constant(1.0), op=hvd.Sum)) == size
