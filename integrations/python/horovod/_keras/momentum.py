"""Momentum that callbacks can change, also of a training function that is a graph.

Keras takes an optimizer's momentum, a number, into its graph as a constant. So before training it
is replaced by something that is still a number, and a variable for whoever makes a tensor of it.
"""

import warnings
from typing import Any, Optional

from horovod._keras.backend import keras_of


class _Holder:
    """What the numbers of one optimizer have in common."""

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.read = False  # by a graph or an eager step


class _Momentum(float):
    """A number whose tensor is a variable's value."""

    holder: _Holder

    def __tf_tensor__(self, dtype: Any = None, name: Optional[str] = None) -> Any:
        import tensorflow as tf

        self.holder.read = True
        value = tf.convert_to_tensor(self.holder.variable)
        return value if dtype is None else tf.cast(value, dtype)

    @property
    def dtype(self) -> str:
        """For Keras, which asks before it makes a tensor."""
        return "float32"

    def __reduce__(self) -> Any:
        return float, (float(self),)

    def __deepcopy__(self, memo: Any) -> float:
        return float(self)


def _momentum(value: float, holder: _Holder) -> _Momentum:
    made = _Momentum(value)
    made.holder = holder
    return made


def optimizer_of(model: Any) -> Any:
    """The one that has the momentum: a loss scaling one stands in front of it."""
    optimizer = model.optimizer
    return getattr(optimizer, "inner_optimizer", optimizer)


def has_momentum(optimizer: Any) -> bool:
    """Whether there is one to correct."""
    momentum = getattr(optimizer, "momentum", None)
    return momentum is not None and (hasattr(momentum, "assign") or float(momentum) != 0)


def let_momentum_change(model: Any) -> None:
    """Before training. Makes its function anew if that may have the momentum as a constant."""
    optimizer = optimizer_of(model)
    keras = keras_of(optimizer)
    on_tensorflow = not hasattr(keras.backend, "backend") or keras.backend.backend() == "tensorflow"
    if not on_tensorflow or not has_momentum(optimizer):
        return
    if hasattr(optimizer.momentum, "assign") or isinstance(optimizer.momentum, _Momentum):
        return
    import tensorflow as tf

    value = float(optimizer.momentum)
    with tf.init_scope():
        variable = tf.Variable(value, trainable=False, dtype=tf.float32, name="momentum")
    optimizer.momentum = _momentum(value, _Holder(variable))
    model.make_train_function(force=True)


def set_momentum(optimizer: Any, value: float) -> None:
    """From the next step on."""
    momentum = optimizer.momentum
    if hasattr(momentum, "assign"):
        momentum.assign(value)
    elif isinstance(momentum, _Momentum):
        momentum.holder.variable.assign(value)
        optimizer.momentum = _momentum(value, momentum.holder)
    else:
        optimizer.momentum = value


def is_constant(model: Any) -> bool:
    """After a step: whether the optimizer's graph has a constant after all; warns if so."""
    optimizer = optimizer_of(model)
    momentum = optimizer.momentum
    if not isinstance(momentum, _Momentum) or momentum.holder.read or model.run_eagerly:
        return False
    warnings.warn(
        f"{type(optimizer).__name__} has its momentum as a constant in its graph: it is not "
        "corrected when the learning rate changes. momentum_correction=False says that this is "
        "known; run_eagerly=True in model.compile() makes it work.",
        RuntimeWarning,
        stacklevel=2,
    )
    return True
