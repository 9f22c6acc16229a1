"""Callbacks for model.fit()."""

import keras

from horovod._keras import callbacks as _impl


class BroadcastGlobalVariablesCallback(  # type: ignore[misc]
    _impl.BroadcastGlobalVariables, keras.callbacks.Callback
):
    __doc__ = _impl.BroadcastGlobalVariables.__doc__


class MetricAverageCallback(_impl.MetricAverage, keras.callbacks.Callback):  # type: ignore[misc]
    __doc__ = _impl.MetricAverage.__doc__


class LearningRateScheduleCallback(  # type: ignore[misc]
    _impl.LearningRateSchedule, keras.callbacks.Callback
):
    __doc__ = _impl.LearningRateSchedule.__doc__


class LearningRateWarmupCallback(  # type: ignore[misc]
    _impl.LearningRateWarmup, keras.callbacks.Callback
):
    __doc__ = _impl.LearningRateWarmup.__doc__


class BestModelCheckpoint(  # type: ignore[misc]
    _impl.BestModelCheckpoint, keras.callbacks.ModelCheckpoint
):
    __doc__ = _impl.BestModelCheckpoint.__doc__
