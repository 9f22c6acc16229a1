"""Elastic training with tf.keras: `@hvd.elastic.run`, KerasState, callbacks."""

from typing import Any

import tensorflow as tf

from horovod._keras import elastic as _impl
from horovod.tensorflow.elastic import TensorFlowKerasState, run

__all__ = [
    "CommitStateCallback",
    "KerasState",
    "UpdateBatchStateCallback",
    "UpdateEpochStateCallback",
    "run",
]


class KerasState(TensorFlowKerasState):
    """A model, its optimizer, and any other objects; the model must be built."""

    def __init__(self, model: Any, optimizer: Any = None, **kwargs: Any) -> None:
        super().__init__(model, optimizer, tf.keras.backend, **kwargs)


class CommitStateCallback(_impl.CommitState, tf.keras.callbacks.Callback):  # type: ignore[misc]
    __doc__ = _impl.CommitState.__doc__


class UpdateBatchStateCallback(  # type: ignore[misc]
    _impl.UpdateBatchState, tf.keras.callbacks.Callback
):
    __doc__ = _impl.UpdateBatchState.__doc__


class UpdateEpochStateCallback(  # type: ignore[misc]
    _impl.UpdateEpochState, tf.keras.callbacks.Callback
):
    __doc__ = _impl.UpdateEpochState.__doc__
