"""Callbacks of fit(), for any Keras: a class here becomes one by inheriting Keras' Callback too."""

import warnings
from typing import Any, Dict, List, Optional, Union

from horovod._keras.backend import basics, framework_below, keras_of
from horovod._keras.momentum import (
    has_momentum,
    is_constant,
    let_momentum_change,
    optimizer_of,
    set_momentum,
)
from horovod._keras.optimizer import variables_of

Logs = Optional[Dict[str, Any]]


class BroadcastGlobalVariables:
    """Gives the root's weights and optimizer state to all ranks, once.

    At the end of the first batch: before it an optimizer may have no variables.
    """

    model: Any

    def __init__(self, root_rank: int, device: str = "", local_variables: Any = None) -> None:
        super().__init__()
        self.root_rank = root_rank
        self.device = device
        self.broadcast_done = False
        self._local_variables: List[Any] = []
        if local_variables is not None:
            for variable in _listed(local_variables):
                self.register_local_var(variable)

    def register_local_var(self, var: Any) -> None:
        """This variable stays each rank's own."""
        self._local_variables.append(var)

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Broadcasts, the first time."""
        if self.broadcast_done:
            return
        local = {id(variable) for variable in self._local_variables}
        variables = [v for v in self.model.weights if id(v) not in local]
        optimizer = getattr(self.model, "optimizer", None)
        if optimizer is not None:
            variables += variables_of(optimizer)
        below = framework_below(keras_of(self.model))
        below.broadcast_variables(variables, self.root_rank, self.device)
        self.broadcast_done = True


def _listed(variables: Any) -> List[Any]:
    if isinstance(variables, (list, tuple, set, frozenset)):
        return list(variables)
    if hasattr(variables, "assign"):
        return [variables]
    raise ValueError(
        f"local_variables must be a variable or several, not {type(variables).__name__}"
    )


class MetricAverage:
    """Averages metrics over all ranks at the end of an epoch: put it before those who use them."""

    model: Any

    def __init__(self, device: str = "") -> None:
        super().__init__()
        self.device = device

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Averages what is a number in `logs`, by one allreduce in the order of names."""
        names = sorted(name for name, value in (logs or {}).items() if _is_number(value))
        if logs is None or not names or basics.size() == 1:
            return
        below = framework_below(keras_of(self.model))
        mine = [float(logs[name]) for name in names]
        averaged = below.allreduce(
            mine, "metrics", basics.Average, 1.0, 1.0, below.Compression.none
        )
        for name, value in zip(names, averaged):
            logs[name] = float(value)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


class LearningRateSchedule:
    """lr = initial_lr * multiplier(epoch), each epoch or each batch, from start to end epoch."""

    model: Any
    params: Any

    def __init__(
        self,
        initial_lr: float,
        multiplier: Any,
        start_epoch: int = 0,
        end_epoch: Optional[int] = None,
        staircase: bool = True,
        momentum_correction: bool = True,
        steps_per_epoch: Optional[int] = None,
    ) -> None:
        super().__init__()
        if initial_lr is None:
            raise ValueError("Parameter `initial_lr` is required")
        self.initial_lr = initial_lr
        self.start_epoch = start_epoch
        self.end_epoch = end_epoch
        self.momentum_correction = momentum_correction
        self.steps_per_epoch = steps_per_epoch
        self.staircase = staircase
        self.current_epoch = 0
        self.restore_momentum: Optional[float] = None
        if callable(multiplier):
            self.multiplier = multiplier
        else:
            self.staircase = True
            self.multiplier = lambda epoch: multiplier ** (epoch - start_epoch)

    def on_train_begin(self, logs: Logs = None) -> None:
        """Finds out how many batches an epoch has."""
        if self.momentum_correction:
            let_momentum_change(self.model)
        if self.staircase or self.steps_per_epoch:
            return
        params = self.params or {}
        steps = params.get("steps")
        if not steps and params.get("samples") and params.get("batch_size"):
            steps = params["samples"] // params["batch_size"]
        if not steps:
            raise ValueError(
                "Could not autodetect the number of steps per epoch. Please specify the "
                f"steps_per_epoch parameter to the {type(self).__name__}()."
            )
        self.steps_per_epoch = int(steps)

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Remembers where we are."""
        self.current_epoch = epoch

    def on_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Sets the learning rate, if it is time."""
        if self.current_epoch < self.start_epoch or (
            self.end_epoch is not None and self.current_epoch >= self.end_epoch
        ):
            return
        if self.staircase:
            if batch == 0:
                self._adjust(self.current_epoch)
        else:
            self._adjust(self.current_epoch + float(batch) / (self.steps_per_epoch or 1))

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Takes back the correction of momentum."""
        if self.restore_momentum is not None:
            set_momentum(optimizer_of(self.model), self.restore_momentum)
            if is_constant(self.model):
                self.momentum_correction = False
            self.restore_momentum = None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Tells the learning rate."""
        if logs is not None:
            logs["lr"] = _number(self.model.optimizer.learning_rate)

    def _adjust(self, epoch: float) -> None:
        optimizer = self.model.optimizer
        old = _number(optimizer.learning_rate)
        new = self.initial_lr * float(self.multiplier(epoch))
        if _is_variable(optimizer.learning_rate):
            optimizer.learning_rate.assign(new)
        else:
            optimizer.learning_rate = new
        optimizer = optimizer_of(self.model)
        if self.momentum_correction and old > 0 and has_momentum(optimizer):
            # Momentum holds gradients times the old learning rate.
            self.restore_momentum = _number(optimizer.momentum)
            set_momentum(optimizer, self.restore_momentum * new / old)


def _is_variable(value: Any) -> bool:
    return hasattr(value, "assign")


def _number(value: Any) -> float:
    if hasattr(value, "value") and not callable(value.value):
        value = value.value  # Keras 3's variable
    return float(value.numpy() if hasattr(value, "numpy") else value)


class LearningRateWarmup(LearningRateSchedule):
    """From initial_lr / size to initial_lr in the first epochs."""

    def __init__(
        self,
        initial_lr: float,
        warmup_epochs: int = 5,
        momentum_correction: bool = True,
        steps_per_epoch: Optional[int] = None,
        verbose: int = 0,
    ) -> None:
        def multiplier(epoch: float) -> float:
            # A batch is over when its rate has been used: count it.
            epoch += 1.0 / (self.steps_per_epoch or 1)
            size = basics.size()
            return 1.0 / size * (epoch * (size - 1) / warmup_epochs + 1)

        super().__init__(
            initial_lr,
            multiplier,
            start_epoch=0,
            end_epoch=warmup_epochs,
            staircase=False,
            momentum_correction=momentum_correction,
            steps_per_epoch=steps_per_epoch,
        )
        self.verbose = verbose

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Rank 0 says when it is over."""
        super().on_epoch_end(epoch, logs)
        if self.end_epoch is not None and epoch == self.end_epoch - 1 and self.verbose > 0:
            rate = _number(self.model.optimizer.learning_rate)
            if basics.rank() == 0:
                print(f"\nEpoch {epoch + 1}: finished gradual learning rate warmup to {rate:g}.")


class BestModelCheckpoint:
    """ModelCheckpoint that keeps the best; where to, is set by who runs it (e.g. on Spark)."""

    filepath: Any

    def __init__(
        self,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Union[str, int] = "epoch",
    ) -> None:
        suffix = ".weights.h5" if save_weights_only else ".keras"
        super().__init__(  # type: ignore[call-arg]
            filepath="unset" + suffix,  # Keras 3 looks at it at once
            monitor=monitor,
            verbose=verbose,
            save_best_only=True,
            save_weights_only=save_weights_only,
            mode=mode,
            save_freq=save_freq,
        )
        self.filepath = None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """As ModelCheckpoint, if a file has been given."""
        if self.filepath is None:
            warnings.warn("BestModelCheckpoint: no filepath has been set.", stacklevel=2)
            return
        super().on_epoch_end(epoch, logs)  # type: ignore[misc]
