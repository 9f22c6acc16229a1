"""Elastic training with TensorFlow: `@hvd.elastic.run` and states."""

import functools
from typing import Any, Callable, List, Optional, Sequence

import tensorflow as tf

from horovod._keras.elastic import ModelState
from horovod.common.elastic import ObjectState, run_fn
from horovod.common.exceptions import HorovodInternalError
from horovod.tensorflow._basics import init, rank, shutdown
from horovod.tensorflow.functions import (
    broadcast_object,
    broadcast_object_fn,
    broadcast_variables,
)
from horovod.tensorflow.util import _executing_eagerly

__all__ = ["TensorFlowKerasState", "TensorFlowState", "run"]


def run(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function that trains, whose first argument is a state.

    When a collective fails or hosts change, the engine starts again, the state is restored or
    synchronised, and the function is called again.
    """
    return run_fn(_with_our_errors(func), _reset)


def _with_our_errors(func: Callable[..., Any]) -> Callable[..., Any]:
    """TensorFlow has errors of its own for a collective that failed."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return func(*args, **kwargs)
        except tf.errors.OpError as error:
            if _is_ours(error):
                raise HorovodInternalError(str(error)) from error
            raise

    return wrapper


def _is_ours(error: tf.errors.OpError) -> bool:
    """By the text, mostly: in a function the operation is not known, and may have any name."""
    text = f"{error.message} {getattr(error.op, 'type', '')}"
    if isinstance(error, tf.errors.FailedPreconditionError):
        return "Mismatched " in text or "Horovod has " in text
    kinds = (tf.errors.UnknownError, tf.errors.AbortedError)
    return isinstance(error, kinds) and "Horovod" in text


def _reset() -> None:
    shutdown()
    init()


class _Broadcast:
    """Objects of rank 0 for all; in a graph by operations that are made once."""

    def __init__(self, session: Optional[Any] = None) -> None:
        self._in_graph: Any = None
        if not _executing_eagerly():
            self._in_graph = broadcast_object_fn(session=session, name="elastic_state")

    def __call__(self, obj: Any) -> Any:
        return broadcast_object(obj) if self._in_graph is None else self._in_graph(obj)


class TensorFlowKerasState(ModelState):
    """A model of Keras on TensorFlow, its optimizer, and any other objects.

    model: it must be built.
    optimizer: the model's own by default.
    backend: keras.backend, for graphs of TensorFlow 1.
    """

    def __init__(
        self, model: Any, optimizer: Any = None, backend: Any = None, **kwargs: Any
    ) -> None:
        self.backend = backend
        self._graph_keras: Any = None
        if not _executing_eagerly():
            v1 = tf.compat.v1.keras.backend  # that of version 2 has no sessions
            self._graph_keras = backend if hasattr(backend, "get_session") else v1
        super().__init__(model, optimizer, _Broadcast(self._session()), **kwargs)
        self._broadcast_op: Any = None
        if self._graph_keras is not None:
            variables = [*self.model.weights, *self._optimizer_variables()]
            self._broadcast_op = broadcast_variables(variables, 0)

    def sync(self) -> None:
        """Gives rank 0's weights, optimizer variables and attributes to all ranks."""
        _with_our_errors(super().sync)()

    def _session(self) -> Any:
        return None if self._graph_keras is None else self._graph_keras.get_session()

    def _read(self, variables: List[Any]) -> List[Any]:
        if self._graph_keras is None:
            return super()._read(variables)
        return list(self._graph_keras.batch_get_value(variables))

    def _write(self, variables: List[Any], values: List[Any]) -> None:
        if self._graph_keras is None:
            super()._write(variables, values)
        else:
            self._graph_keras.batch_set_value(list(zip(variables, values)))

    def _broadcast(self, variables: List[Any]) -> None:
        if self._graph_keras is None:
            super()._broadcast(variables)
        else:
            self._session().run(self._broadcast_op)


class TensorFlowState(ObjectState):
    """Variables, and any other objects.

    variables: all global variables by default.
    session: in which they are, for graphs of TensorFlow 1; the default session by default.
    """

    def __init__(
        self,
        variables: Optional[Sequence[Any]] = None,
        session: Optional[Any] = None,
        **kwargs: Any,
    ) -> None:
        v1 = tf.compat.v1
        self.variables = list(v1.global_variables() if variables is None else variables)
        self.session = session
        self._eager = _executing_eagerly()
        # In a graph now, since it may be finished later.
        self._broadcast_op = None if self._eager else broadcast_variables(self.variables, 0)
        self._saved_values: List[Any] = []
        self._save_variables()
        super().__init__(bcast_object=_Broadcast(session), get_rank=rank, **kwargs)

    def save(self) -> None:
        """Keeps the values of all variables and attributes."""
        self._save_variables()
        super().save()

    def restore(self) -> None:
        """Goes back to what was kept last."""
        for variable, value in zip(self.variables, self._saved_values):
            if self._eager:
                variable.assign(value)
            else:
                variable.load(value, self._session())
        super().restore()

    def sync(self) -> None:
        """Gives rank 0's variables and attributes to all ranks."""
        _with_our_errors(self._sync)()

    def _sync(self) -> None:
        if self._eager:
            broadcast_variables(self.variables, 0)
        else:
            self._session().run(self._broadcast_op)
        self._save_variables()
        super().sync()

    def _save_variables(self) -> None:
        if self._eager:
            self._saved_values = [v.numpy() for v in self.variables]
        else:
            self._saved_values = self._session().run(self.variables)

    def _session(self) -> Any:
        v1 = tf.compat.v1
        return self.session or v1.get_default_session() or v1.keras.backend.get_session()
