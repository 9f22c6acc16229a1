"""Rank, size and their like as operations: asked when a graph runs, not when it is made."""

from typing import Callable, Optional

import tensorflow as tf

from horovod.tensorflow._basics import _basics, elastic, local_rank, local_size, rank
from horovod.tensorflow._library import operations
from horovod.tensorflow._raw_ops import _overlapping, _refuse_xla
from horovod.tensorflow._xla import compiled_by_xla
from horovod.tensorflow.util import not_converted


def _fact(kind: str, known: Callable[[], int], operation: Callable[[], tf.Tensor]) -> tf.Tensor:
    """A number asked when the graph runs. XLA's graphs have it as a constant, if it is one."""
    if not compiled_by_xla():
        return _overlapping(operation())
    if elastic():
        _refuse_xla(kind)
    return tf.constant(known(), tf.int32)


@not_converted
def size_op(process_set_id: int = 0, name: Optional[str] = None) -> tf.Tensor:
    """The number of ranks in a set, asked when the graph runs."""
    return _fact(
        "HorovodSize",
        lambda: _basics._process_set_size(process_set_id),
        lambda: operations.horovod_size(process_set_id=process_set_id, name=name),
    )


@not_converted
def local_size_op(name: Optional[str] = None) -> tf.Tensor:
    """The number of ranks on this host, asked when the graph runs."""
    return _fact("HorovodLocalSize", local_size, lambda: operations.horovod_local_size(name=name))


@not_converted
def rank_op(name: Optional[str] = None) -> tf.Tensor:
    """This process's rank, asked when the graph runs."""
    return _fact("HorovodRank", rank, lambda: operations.horovod_rank(name=name))


@not_converted
def local_rank_op(name: Optional[str] = None) -> tf.Tensor:
    """This process's rank on its host, asked when the graph runs."""
    return _fact("HorovodLocalRank", local_rank, lambda: operations.horovod_local_rank(name=name))


@not_converted
def process_set_included_op(process_set_id: int = 0, name: Optional[str] = None) -> tf.Tensor:
    """1 if this process is in a set, 0 if not, or a negative HOROVOD_PROCESS_SET_ERROR_*."""
    return _fact(
        "HorovodProcessSetIncluded",
        lambda: _basics.MPI_LIB_CTYPES.horovod_process_set_included(process_set_id),
        lambda: operations.horovod_process_set_included(process_set_id=process_set_id, name=name),
    )
