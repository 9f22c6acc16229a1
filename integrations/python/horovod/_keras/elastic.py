"""Elastic training with any Keras: the state of a model, and callbacks that keep it."""

from typing import Any, Callable, Dict, List, Optional

import numpy as np

from horovod._keras.backend import basics, framework_below, keras_of
from horovod._keras.optimizer import variables_of
from horovod.common.elastic import ObjectState

Logs = Optional[Dict[str, Any]]


class ModelState(ObjectState):
    """A model, its optimizer, and any other objects.

    An optimizer that has no variables yet gets them now: later they could not be restored.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        bcast_object: Callable[[Any], Any],
        **kwargs: Any,
    ) -> None:
        if not model.built:
            raise ValueError(
                "Model must be built first. Run `model.build(input_shape)`, or call it once."
            )
        self.model = model
        self.optimizer = getattr(model, "optimizer", None) if optimizer is None else optimizer
        if self.optimizer is not None:
            _make_variables(self.optimizer, model)
        self._saved_values: List[Any] = []
        self._save_model()
        super().__init__(bcast_object=bcast_object, get_rank=basics.rank, **kwargs)

    def save(self) -> None:
        """Keeps copies of all variables and the values of the attributes."""
        self._save_model()
        super().save()

    def restore(self) -> None:
        """Goes back to what was kept last."""
        self._write(self._variables(), self._saved_values)
        super().restore()

    def sync(self) -> None:
        """Gives rank 0's weights, optimizer variables and attributes to all ranks."""
        self._broadcast([*self.model.weights, *self._optimizer_variables()])
        self._save_model()
        super().sync()

    def _save_model(self) -> None:
        self._saved_values = self._read(self._variables())

    def _variables(self) -> List[Any]:
        """Also the seeds of layers, which each rank has its own of; metrics begin anew anyway."""
        metrics = {id(v) for metric in self.model.metrics for v in metric.variables}
        variables = [v for v in self.model.variables if id(v) not in metrics]
        return [*variables, *self._optimizer_variables()]

    def _optimizer_variables(self) -> List[Any]:
        return [] if self.optimizer is None else variables_of(self.optimizer)

    def _read(self, variables: List[Any]) -> List[Any]:
        ops = getattr(keras_of(self.model), "ops", None)
        if ops is None:  # Keras 2
            return [v.numpy() for v in variables]
        return [np.array(ops.convert_to_numpy(v)) for v in variables]

    def _write(self, variables: List[Any], values: List[Any]) -> None:
        for variable, value in zip(variables, values):
            variable.assign(value)

    def _broadcast(self, variables: List[Any]) -> None:
        framework_below(keras_of(self.model)).broadcast_variables(variables, 0)


def _make_variables(optimizer: Any, model: Any) -> None:
    if hasattr(optimizer, "build"):
        if not getattr(optimizer, "built", False) and not getattr(optimizer, "_built", False):
            optimizer.build(model.trainable_variables)
    elif hasattr(optimizer, "_create_all_weights"):
        optimizer._create_all_weights(model.trainable_variables)


class CommitState:
    """Commits after so many batches, and at the end of every epoch."""

    def __init__(self, state: Any, batches_per_commit: int = 1) -> None:
        super().__init__()
        self.state = state
        self.batches_per_commit = batches_per_commit
        self.batches_remaining = batches_per_commit

    def on_train_begin(self, logs: Logs = None) -> None:
        """Counts anew."""
        self.batches_remaining = self.batches_per_commit

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Counts, and commits."""
        self.batches_remaining -= 1
        if self.batches_remaining == 0:
            self.state.commit()
            self.batches_remaining = self.batches_per_commit

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Commits."""
        self.state.commit()


class _ShortEpoch:
    """In model.stop_training: ends the epoch, not the training."""


class UpdateBatchState:
    """Keeps the number of the batch in state.batch; an epoch that was begun is only finished."""

    model: Any
    params: Any

    def __init__(self, state: Any) -> None:
        super().__init__()
        self.state = state
        self.steps_per_epoch: Optional[int] = None
        self._last: Optional[int] = None

    def on_train_begin(self, logs: Logs = None) -> None:
        """Looks how long an epoch is."""
        self.steps_per_epoch = None

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Fewer steps, if some of this epoch were done before a reset."""
        if self.steps_per_epoch is None:
            self.steps_per_epoch = self.params.get("steps")
        self._last = None
        if self.steps_per_epoch is not None:
            self.params["steps"] = self.steps_per_epoch - self.state.batch
            if self.state.batch > 0:
                self._last = self.params["steps"] - 1

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Notes the batch."""
        self.state.batch = batch
        if self._last is not None and batch >= self._last:
            self.model.stop_training = self.model.stop_training or _ShortEpoch()

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """The next epoch begins with its first batch."""
        self.state.batch = 0
        if isinstance(self.model.stop_training, _ShortEpoch):
            self.model.stop_training = False


class UpdateEpochState:
    """Keeps the number of epochs done in state.epoch."""

    def __init__(self, state: Any) -> None:
        super().__init__()
        self.state = state
        self.initial_epoch = self.state.epoch

    def on_train_begin(self, logs: Logs = None) -> None:
        """fit() counts from 0, the state from where it was."""
        self.initial_epoch = self.state.epoch

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """One more."""
        self.state.epoch = self.initial_epoch + epoch + 1
