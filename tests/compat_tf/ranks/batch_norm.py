"""SyncBatchNormalization: as one process on the joined batch."""

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from values import array

import horovod.tensorflow as hvd

How = Callable[..., Any]


def test_as_one_process(how: How, rank: int, size: int) -> None:
    random = np.random.RandomState(3)
    x = random.rand(4 * size, 5, 3).astype("f") * 10

    def run(layer: Any, x: Any) -> Any:
        layer.build(x.shape)

        def step(x: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = layer(x, training=True)
                loss = tf.reduce_sum(y**3)
            return y, tape.gradient(loss, x)

        y, gradient = how(step)(tf.constant(x))
        return array(y), array(gradient), array(layer.moving_mean), array(layer.moving_variance)

    mine = slice(4 * rank, 4 * rank + 4)
    whole = run(tf.keras.layers.BatchNormalization(), x)
    part = run(hvd.SyncBatchNormalization(), x[mine])
    assert np.allclose(part[0], whole[0][mine], atol=1e-4)
    # The gradient of an average is averaged over ranks, and the loss here is a sum.
    assert np.allclose(part[1], whole[1][mine], atol=2e-2)
    assert np.allclose(part[2], whole[2], atol=1e-4)
    assert np.allclose(part[3], whole[3], atol=1e-3)


def test_arguments() -> None:
    for fused in (True, None):
        with pytest.raises(ValueError, match="fused"):
            hvd.SyncBatchNormalization(fused=fused)
    layers = [hvd.SyncBatchNormalization(momentum=0.5) for _ in range(2)]
    assert all(layer.name.startswith("sync_batch_normalization") for layer in layers)
    assert len({layer.name for layer in layers}) == 2
