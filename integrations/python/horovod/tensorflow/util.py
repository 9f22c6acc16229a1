"""Small things about TensorFlow that several files need."""

from typing import Any, Callable

import tensorflow as tf

from horovod.common.util import _cache

# Our functions are Python that makes graphs: AutoGraph need not read and rewrite them.
not_converted = tf.autograph.experimental.do_not_convert

__all__ = [
    "_cache",
    "_executing_eagerly",
    "_make_subgraph",
    "not_converted",
    "refs_to_vars",
    "vars_to_refs",
]


def _executing_eagerly() -> bool:
    """Whether operations run when they are called."""
    return bool(tf.executing_eagerly())


def _make_subgraph(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function as one graph."""
    return tf.function(f)  # type: ignore[no-any-return]


def vars_to_refs(vars: Any) -> Any:  # noqa: A002
    """Variables as things that can be compared and hashed."""
    if isinstance(vars, (list, tuple)):
        return tuple(vars_to_refs(v) for v in vars)
    return vars.ref()


def refs_to_vars(refs: Any) -> Any:
    """And back."""
    if isinstance(refs, (list, tuple)):
        return [refs_to_vars(r) for r in refs]
    return refs.deref()
