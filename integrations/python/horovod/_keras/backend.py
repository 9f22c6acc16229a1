"""Which framework a Keras runs on."""

import sys
from types import ModuleType
from typing import Any

from horovod.common.basics import HorovodBasics


def framework_below(keras: Any) -> ModuleType:
    """on_tensorflow or on_torch."""
    name = str(keras.backend.backend()) if hasattr(keras.backend, "backend") else "tensorflow"
    if name == "tensorflow":
        from horovod._keras import on_tensorflow

        return on_tensorflow
    if name == "torch":
        from horovod._keras import on_torch

        return on_torch
    raise ImportError(
        f"horovod.keras works with Keras on TensorFlow or PyTorch; KERAS_BACKEND is {name!r}."
    )


def keras_of(thing: Any) -> Any:
    """The Keras that an optimizer or model belongs to: keras (version 3) or tf_keras."""
    for base in type(thing).__mro__:
        package = base.__module__.split(".")[0]
        if package in ("keras", "tf_keras"):
            return sys.modules[package]
    raise ValueError(f"{type(thing).__name__} does not come from Keras.")


def is_keras_3(thing: Any) -> bool:
    """Whether an optimizer is one of Keras 3: everything goes through its apply()."""
    return hasattr(thing, "apply") and hasattr(thing, "_backend_apply_gradients")


basics = HorovodBasics(__file__)
