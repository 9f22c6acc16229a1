"""Batch normalization over the batches of all ranks."""

from typing import Any, Tuple

import tensorflow as tf

from horovod.tensorflow._basics import Sum, size
from horovod.tensorflow._raw_ops import _allreduce


def _of_all_ranks(mean: Any, variance: Any) -> Tuple[Any, Any]:
    """Mean and variance over all ranks, whose batches count the same."""
    if size() == 1:
        return mean, variance
    moments = tf.stack([mean, variance + mean * mean])
    mean, mean_of_squares = tf.unstack(_allreduce(moments, op=Sum) / tf.cast(size(), moments.dtype))
    return mean, mean_of_squares - mean * mean


class SyncBatchNormalization(tf.keras.layers.BatchNormalization):  # type: ignore[misc]
    """BatchNormalization whose mean and variance are those of the batches of all ranks."""

    def __init__(self, fused: Any = False, **kwargs: Any) -> None:
        if fused in (True, None):
            raise ValueError("SyncBatchNormalization does not support fused=True.")
        super().__init__(**kwargs)

    # Keras 3
    def _moments(self, inputs: Any, mask: Any) -> Tuple[Any, Any]:
        return _of_all_ranks(*super()._moments(inputs, mask))

    # Keras 2
    def _calculate_mean_and_var(self, *args: Any, **kwargs: Any) -> Tuple[Any, Any]:
        return _of_all_ranks(*super()._calculate_mean_and_var(*args, **kwargs))


__all__ = ["SyncBatchNormalization"]
