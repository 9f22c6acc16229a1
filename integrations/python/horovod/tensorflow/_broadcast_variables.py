"""Variables from one rank to all."""

from typing import Any, Dict, List, Optional, Sequence

import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._raw_ops import _name_of, _normalize_name, broadcast
from horovod.tensorflow.util import not_converted

# Types that the engine does not know travel as others of their size.
_TRAVELS_AS: Dict[tf.DType, tf.DType] = {
    tf.uint32: tf.int32,
    tf.uint64: tf.int64,
    tf.complex64: tf.int64,
}


def _from_root(
    value: tf.Tensor, root_rank: int, name: Optional[str], process_set: ProcessSet
) -> tf.Tensor:
    plain = _TRAVELS_AS.get(value.dtype)
    if plain is None:
        return broadcast(value, root_rank, name=name, process_set=process_set)
    sent = broadcast(tf.bitcast(value, plain), root_rank, name=name, process_set=process_set)
    return tf.bitcast(sent, value.dtype)


def _node_name(variable: Any, name: Optional[str]) -> Optional[str]:
    """<name>_<variable>; Keras' variables say in their path which layer they belong to."""
    if tf.executing_eagerly():
        return None
    its_name = getattr(variable, "path", None) or _name_of(variable)
    return "_".join(
        [name or "HorovodBroadcast", *([_normalize_name(its_name)] if its_name else [])]
    )


def assign_from_root(
    variables: Sequence[Any],
    root_rank: int,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> List[Any]:
    """Starts all broadcasts, then assigns; returns what assign() returns."""
    values = [
        _from_root(tf.convert_to_tensor(v), root_rank, _node_name(v, name), process_set)
        for v in variables
    ]
    return [v.assign(value) for v, value in zip(variables, values)]


@not_converted
def broadcast_(
    variables: Sequence[Any],
    root_rank: int,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
) -> List[tf.Tensor]:
    """Gives the root's values to the variables of all ranks and returns them; no gradients."""
    if tf.executing_eagerly():

        def all_at_once() -> None:
            assign_from_root(variables, root_rank, name, process_set)

        # In a graph they travel together.
        tf.function(all_at_once, autograph=False)()
        return [tf.convert_to_tensor(v) for v in variables]
    with tf.control_dependencies(assign_from_root(variables, root_rank, name, process_set)):
        return [tf.identity(v) for v in variables]
