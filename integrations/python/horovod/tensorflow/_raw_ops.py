"""The operations of the library, one call each: names, process sets, and leave to overlap."""

import re
from typing import Any, List, Optional, Sequence, Tuple

import tensorflow as tf
from tensorflow.python.framework import ops as _tf_ops

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._basics import Sum, set_id
from horovod.tensorflow._library import blocking, operations
from horovod.tensorflow._xla import available as _xla_available
from horovod.tensorflow._xla import compiled_by_xla
from horovod.tensorflow._xla import grouped_allreduce as _xla_allreduce
from horovod.tensorflow.util import not_converted


def _normalize_name(name: str) -> str:
    """A name that TensorFlow takes for a node."""
    return re.sub("[^a-zA-Z0-9_]", "_", name)


def _name_of(tensor: Any) -> Optional[str]:
    # A tensor that is a value has no name, and says so in different ways.
    try:
        return str(tensor.name)
    except (AttributeError, ValueError):
        return None


def _node_name(kind: str, tensors: Sequence[Any], name: Optional[str]) -> Optional[str]:
    """By which ranks know a collective of a graph. In eager mode it has its type for a name."""
    if tf.executing_eagerly():
        return name
    _refuse_xla(kind)
    return _name_in_graph(kind, tensors, name)


def _name_in_graph(kind: str, tensors: Sequence[Any], name: Optional[str]) -> str:
    if name is not None:
        return name
    ends = [tensors[0]] if len(tensors) == 1 else [tensors[0], tensors[-1]]
    names = [_name_of(tensor) for tensor in ends]
    return "_".join([kind, *(_normalize_name(n) for n in names if n)])


def _refuse_xla(kind: str) -> None:
    if compiled_by_xla():
        of_allreduce = kind.endswith("Allreduce")
        raise NotImplementedError(
            f"{kind} can't be compiled by XLA here. Give jit_compile=False to the function that "
            "calls it (to model.compile() in Keras); functions called by that one may have it."
            + (" TensorFlow 2.19 and later can compile it for the CPU." if of_allreduce else "")
        )


def _overlapping(result: Any) -> Any:
    """Lets an operation of a function run beside the other collectives.

    TensorFlow runs operations that have an effect one after the other; for these the order does
    not matter. When kernels block, it does.
    """
    if blocking or tf.executing_eagerly():
        return result
    manager = getattr(_tf_ops.get_default_graph(), "experimental_acd_manager", None)
    if manager is not None:
        first = result[0] if isinstance(result, (list, tuple)) else result
        manager.run_independently(first.op)
    return result


def _values(tensors: Sequence[Any]) -> List[tf.Tensor]:
    return [tf.convert_to_tensor(tensor) for tensor in tensors]


@not_converted
def _allreduce(
    tensor: Any,
    name: Optional[str] = None,
    op: int = Sum,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
) -> tf.Tensor:
    """Reduces a tensor over all ranks; the default is their sum."""
    if compiled_by_xla() and _xla_available():
        return _xla_allreduce(
            _values([tensor]),
            _name_in_graph("HorovodAllreduce", [tensor], name),
            op,
            prescale_factor,
            postscale_factor,
            ignore_name_scope,
            set_id(process_set),
        )[0]
    return _overlapping(
        operations.horovod_allreduce(
            tensor=tf.convert_to_tensor(tensor),
            reduce_op=op,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodAllreduce", [tensor], name),
        )
    )


@not_converted
def _grouped_allreduce(
    tensors: Sequence[Any],
    name: Optional[str] = None,
    op: int = Sum,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
) -> List[tf.Tensor]:
    """The same for tensors of one type that become ready together."""
    if compiled_by_xla() and _xla_available():
        return _xla_allreduce(
            _values(tensors),
            _name_in_graph("HorovodGroupedAllreduce", tensors, name),
            op,
            prescale_factor,
            postscale_factor,
            ignore_name_scope,
            set_id(process_set),
        )
    return _overlapping(  # type: ignore[no-any-return]
        operations.horovod_grouped_allreduce(
            tensors=_values(tensors),
            reduce_op=op,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodGroupedAllreduce", tensors, name),
        )
    )


@not_converted
def allgather(
    tensor: Any,
    name: Optional[str] = None,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
) -> tf.Tensor:
    """The tensors of all ranks, one behind the other. Numbers of rows may differ."""
    return _overlapping(
        operations.horovod_allgather(
            tensor=tf.convert_to_tensor(tensor),
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodAllgather", [tensor], name),
        )
    )


@not_converted
def grouped_allgather(
    tensors: Sequence[Any],
    name: Optional[str] = None,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
) -> List[tf.Tensor]:
    """The same for tensors of one type that become ready together."""
    return _overlapping(  # type: ignore[no-any-return]
        operations.horovod_grouped_allgather(
            tensors=_values(tensors),
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodGroupedAllgather", tensors, name),
        )
    )


@not_converted
def broadcast(
    tensor: Any,
    root_rank: int,
    name: Optional[str] = None,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
) -> tf.Tensor:
    """The tensor of `root_rank` (a global rank) on every rank."""
    return _overlapping(
        operations.horovod_broadcast(
            tensor=tf.convert_to_tensor(tensor),
            root_rank=root_rank,
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodBroadcast", [tensor], name),
        )
    )


def _alltoall(
    tensor: Any,
    splits: Any,
    name: Optional[str],
    ignore_name_scope: bool,
    process_set: ProcessSet,
) -> Tuple[tf.Tensor, tf.Tensor]:
    return _overlapping(  # type: ignore[no-any-return]
        operations.horovod_alltoall(
            tensor=tf.convert_to_tensor(tensor),
            splits=splits,
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodAlltoall", [tensor], name),
        )
    )


@not_converted
def alltoall(
    tensor: Any,
    splits: Any = None,
    name: Optional[str] = None,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
) -> Any:
    """Sends rows to every rank and returns what came from all.

    `splits`: how many rows go to each rank; the result is then (output, received splits). Without
    it every rank gets the same number, and the result is the output alone.
    """
    if splits is None:
        equal = tf.zeros([0], tf.int32)
        return _alltoall(tensor, equal, name, ignore_name_scope, process_set)[0]
    rows = tf.convert_to_tensor(splits, dtype=None if hasattr(splits, "dtype") else tf.int32)
    if rows.dtype != tf.int32:
        raise tf.errors.InvalidArgumentError(
            None, None, "alltoall expects splits to contain 32-bit integer elements"
        )
    output, received = _alltoall(tensor, rows, name, ignore_name_scope, process_set)
    return output, received


@not_converted
def _reducescatter(
    tensor: Any,
    name: Optional[str] = None,
    op: int = Sum,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> tf.Tensor:
    """Reduces a tensor over all ranks; each gets some of the rows."""
    return _overlapping(
        operations.horovod_reducescatter(
            tensor=tf.convert_to_tensor(tensor),
            reduce_op=op,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodReducescatter", [tensor], name),
        )
    )


@not_converted
def _grouped_reducescatter(
    tensors: Sequence[Any],
    name: Optional[str] = None,
    op: int = Sum,
    ignore_name_scope: bool = False,
    process_set: ProcessSet = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> List[tf.Tensor]:
    """The same for tensors of one type that become ready together."""
    return _overlapping(  # type: ignore[no-any-return]
        operations.horovod_grouped_reducescatter(
            tensors=_values(tensors),
            reduce_op=op,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
            ignore_name_scope=ignore_name_scope,
            process_set_id=set_id(process_set),
            name=_node_name("HorovodGroupedReducescatter", tensors, name),
        )
    )


@not_converted
def join() -> tf.Tensor:
    """Says that this rank has no more data; ends when all have, with the rank of the last."""
    _refuse_xla("HorovodJoin")
    return operations.horovod_join()
