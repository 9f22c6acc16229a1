"""Callbacks for model.fit()."""

import tensorflow as tf

from horovod._keras import callbacks as _impl


class BroadcastGlobalVariablesCallback(  # type: ignore[misc]
    _impl.BroadcastGlobalVariables, tf.keras.callbacks.Callback
):
    __doc__ = _impl.BroadcastGlobalVariables.__doc__


class MetricAverageCallback(_impl.MetricAverage, tf.keras.callbacks.Callback):  # type: ignore[misc]
    __doc__ = _impl.MetricAverage.__doc__


class LearningRateScheduleCallback(  # type: ignore[misc]
    _impl.LearningRateSchedule, tf.keras.callbacks.Callback
):
    __doc__ = _impl.LearningRateSchedule.__doc__


class LearningRateWarmupCallback(  # type: ignore[misc]
    _impl.LearningRateWarmup, tf.keras.callbacks.Callback
):
    __doc__ = _impl.LearningRateWarmup.__doc__


class BestModelCheckpoint(  # type: ignore[misc]
    _impl.BestModelCheckpoint, tf.keras.callbacks.ModelCheckpoint
):
    __doc__ = _impl.BestModelCheckpoint.__doc__
