"""Variables and Python objects from one rank to all, or from all to all."""

import io
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np
import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._basics import rank
from horovod.tensorflow._broadcast_variables import assign_from_root, broadcast_
from horovod.tensorflow._raw_ops import allgather, broadcast
from horovod.tensorflow.util import _executing_eagerly, not_converted


@not_converted
def broadcast_variables(
    variables: Sequence[Any],
    root_rank: int,
    process_set: ProcessSet = global_process_set,
    inplace: bool = False,
) -> Any:
    """Gives the root's values to the variables of all ranks.

    In eager mode when called; in a graph it returns the operation that does it. `inplace` is
    accepted as in Horovod and changes nothing.
    """
    variables = list(variables)
    if not variables:
        return None if _executing_eagerly() else tf.no_op()
    if _executing_eagerly():
        broadcast_(variables, root_rank, process_set=process_set)
        return None
    return tf.group(*assign_from_root(variables, root_rank, process_set=process_set))


def broadcast_global_variables(root_rank: int) -> tf.Operation:
    """The operation that broadcasts all variables of a graph of TensorFlow 1."""
    if _executing_eagerly():
        raise RuntimeError(
            "hvd.broadcast_global_variables() does not support eager execution. Please use "
            "`hvd.broadcast_variables(<model/optimizer variables>)` instead."
        )
    return broadcast_variables(tf.compat.v1.global_variables(), root_rank)


def _pickled(obj: Any) -> "np.ndarray[Any, Any]":
    import cloudpickle

    memory = io.BytesIO()
    cloudpickle.dump(obj, memory)
    return np.frombuffer(memory.getvalue(), dtype=np.uint8)


def _unpickled(payload: "np.ndarray[Any, Any]") -> Any:
    import cloudpickle

    return cloudpickle.loads(payload.tobytes())


class _Runner:
    """Runs collectives on numpy arrays: as values, or in a session with placeholders made once."""

    def __init__(self, session: Optional[Any]) -> None:
        self._session = session
        self._made: Dict[str, Any] = {}

    def __call__(self, name: str, collective: Callable[..., Any], array: Any) -> Any:
        if _executing_eagerly():
            return collective(tf.constant(array)).numpy()
        v1 = tf.compat.v1
        if name not in self._made:
            given = v1.placeholder(array.dtype, [None])
            self._made[name] = given, collective(given, name=name.replace(".", "_"))
        given, result = self._made[name]
        session = self._session or v1.get_default_session() or v1.keras.backend.get_session()
        return session.run(result, {given: array})


def _broadcast_object(
    run: _Runner, obj: Any, root_rank: int, name: str, process_set: ProcessSet
) -> Any:
    def from_root(tensor: Any, **kwargs: Any) -> tf.Tensor:
        return broadcast(tensor, root_rank, process_set=process_set, **kwargs)

    at_root = rank() == root_rank
    payload = _pickled(obj) if at_root else np.zeros(0, np.uint8)
    length = run(f"{name}.sz", from_root, np.array([payload.size], np.int64))
    if not at_root:
        payload = np.zeros(int(length[0]), np.uint8)
    payload = run(f"{name}.t", from_root, payload)
    return obj if at_root else _unpickled(payload)


def broadcast_object(
    obj: Any,
    root_rank: int = 0,
    session: Optional[Any] = None,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> Any:
    """Gives an object of `root_rank` that can be pickled to all ranks, and returns it.

    `name` defaults to the type of the local object: in graphs give one where types differ. In a
    graph of TensorFlow 1 it runs in `session` or in the default one.
    """
    return _broadcast_object(
        _Runner(session), obj, root_rank, name or type(obj).__name__, process_set
    )


def broadcast_object_fn(
    root_rank: int = 0,
    session: Optional[Any] = None,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> Callable[[Any], Any]:
    """A function that broadcasts objects, whose operations are made once: for TensorFlow 1."""
    run = _Runner(session)
    name = name or "broadcast_object_fn"
    return lambda obj: _broadcast_object(run, obj, root_rank, str(name), process_set)


def allgather_object(
    obj: Any,
    session: Optional[Any] = None,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> List[Any]:
    """The objects of all ranks, in the order of ranks."""
    run = _Runner(session)
    name = name or type(obj).__name__

    def gathered(tensor: Any, **kwargs: Any) -> tf.Tensor:
        return allgather(tensor, process_set=process_set, **kwargs)

    payload = _pickled(obj)
    lengths = run(f"{name}.sz", gathered, np.array([payload.size], np.int64))
    payloads = run(f"{name}.t", gathered, payload)
    return [_unpickled(one) for one in np.split(payloads, np.cumsum(lengths)[:-1])]
