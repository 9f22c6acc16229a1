"""Elastic training with Keras: `@hvd.elastic.run`, KerasState, callbacks."""

from typing import Any

import keras

from horovod._keras import elastic as _impl
from horovod._keras.backend import framework_below as _framework_below

__all__ = [
    "CommitStateCallback",
    "KerasState",
    "UpdateBatchStateCallback",
    "UpdateEpochStateCallback",
    "run",
]

if _framework_below(keras).__name__.endswith("on_torch"):
    from horovod.torch.elastic import run
    from horovod.torch.functions import broadcast_object as _broadcast_object

    class KerasState(_impl.ModelState):
        """A model, its optimizer, and any other objects; the model must be built."""

        def __init__(self, model: Any, optimizer: Any = None, **kwargs: Any) -> None:
            super().__init__(model, optimizer, _from_rank_0, **kwargs)

    def _from_rank_0(obj: Any) -> Any:
        return _broadcast_object(obj, 0, name="elastic.state")

else:
    from horovod.tensorflow.elastic import TensorFlowKerasState, run

    class KerasState(TensorFlowKerasState):  # type: ignore[no-redef]
        """A model, its optimizer, and any other objects; the model must be built."""

        def __init__(self, model: Any, optimizer: Any = None, **kwargs: Any) -> None:
            super().__init__(model, optimizer, keras.backend, **kwargs)


class CommitStateCallback(_impl.CommitState, keras.callbacks.Callback):  # type: ignore[misc]
    __doc__ = _impl.CommitState.__doc__


class UpdateBatchStateCallback(  # type: ignore[misc]
    _impl.UpdateBatchState, keras.callbacks.Callback
):
    __doc__ = _impl.UpdateBatchState.__doc__


class UpdateEpochStateCallback(  # type: ignore[misc]
    _impl.UpdateEpochState, keras.callbacks.Callback
):
    __doc__ = _impl.UpdateEpochState.__doc__
