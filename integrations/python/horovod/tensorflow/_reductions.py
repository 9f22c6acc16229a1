"""Allreduce and reducescatter as scripts call them: dense and sparse, compressed, grouped."""

from typing import Any, List, Optional, Sequence, Type

import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._basics import (
    Adasum,
    Average,
    Sum,
    check_adasum,
    handle_average_backwards_compatibility,
    set_id,
)
from horovod.tensorflow._facts import size_op
from horovod.tensorflow._raw_ops import (
    _allreduce,
    _grouped_allreduce,
    _grouped_reducescatter,
    _reducescatter,
    allgather,
)
from horovod.tensorflow._xla import compiled_by_xla
from horovod.tensorflow.compression import Compression, Compressor
from horovod.tensorflow.util import not_converted


def _check_sparse(op: int, prescale_factor: float, postscale_factor: float) -> None:
    if op == Adasum:
        raise NotImplementedError(
            "The Adasum reduction does not support tf.IndexedSlices; sparse_as_dense=True makes "
            "them dense."
        )
    if op not in (Average, Sum):
        raise NotImplementedError("Only Average and Sum are supported with tf.IndexedSlices.")
    if prescale_factor != 1.0 or postscale_factor != 1.0:
        raise NotImplementedError(
            "prescale_factor and postscale_factor are not supported with tf.IndexedSlices."
        )


def _sparse_allreduce(
    slices: tf.IndexedSlices, device: str, op: int, process_set: ProcessSet
) -> tf.IndexedSlices:
    """All ranks' slices one behind the other: adding them up is left to who applies them."""
    if compiled_by_xla():
        raise NotImplementedError(
            "tf.IndexedSlices of all ranks have no shape that XLA could know. sparse_as_dense=True "
            "makes them dense; or give jit_compile=False to the function that reduces them."
        )
    with tf.device(device):
        values = allgather(slices.values, process_set=process_set)
        indices = allgather(slices.indices, process_set=process_set)
        if op == Average:
            values /= tf.cast(size_op(set_id(process_set)), values.dtype)
    return tf.IndexedSlices(values, indices, dense_shape=slices.dense_shape)


@not_converted
def allreduce(
    tensor: Any,
    average: Optional[bool] = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Type[Compressor] = Compression.none,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
    ignore_name_scope: bool = False,
) -> Any:
    """Reduces a tensor, a variable or tf.IndexedSlices over all ranks; the default is their mean.

    device_dense, device_sparse: where it happens.
    compression: what travels, e.g. hvd.Compression.fp16; not for slices.
    op: Average, Sum, Min, Max, Product or Adasum; `average` is the old way to say it.
    prescale_factor, postscale_factor: multiply before and after.
    name: of the node in a graph, by which ranks know each other's tensors.
    """
    op = handle_average_backwards_compatibility(op, average)
    if isinstance(tensor, tf.IndexedSlices):
        _check_sparse(op, prescale_factor, postscale_factor)
        return _sparse_allreduce(tensor, device_sparse, op, process_set)
    check_adasum(op, process_set)
    with tf.device(device_dense):
        small, ctx = _compressed(tensor, compression)
        reduced = _allreduce(
            small,
            name=name,
            op=op,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
            ignore_name_scope=ignore_name_scope,
            process_set=process_set,
        )
        return compression.decompress(reduced, ctx)


def _compressed(tensor: Any, compression: Type[Compressor]) -> Any:
    """As compression.compress(); a variable keeps its name if nothing has to be done to it."""
    if compression is Compression.none:
        return tensor, None
    return compression.compress(tf.convert_to_tensor(tensor))


@not_converted
def grouped_allreduce(
    tensors: Sequence[Any],
    average: Optional[bool] = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Type[Compressor] = Compression.none,
    op: Optional[int] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: ProcessSet = global_process_set,
    ignore_name_scope: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Reduces tensors that become ready together; one call for all the dense ones.

    The results stand where their inputs stood; tf.IndexedSlices are reduced one by one. The dense
    ones have one type.
    """
    if not tensors:
        return tensors
    op = handle_average_backwards_compatibility(op, average)
    results: List[Any] = list(tensors)
    sparse = [i for i, each in enumerate(tensors) if isinstance(each, tf.IndexedSlices)]
    dense = [i for i in range(len(results)) if i not in sparse]
    for i in sparse:
        _check_sparse(op, prescale_factor, postscale_factor)
        results[i] = _sparse_allreduce(results[i], device_sparse, op, process_set)
    if not dense:
        return results
    check_adasum(op, process_set)
    with tf.device(device_dense):
        small = [_compressed(results[i], compression) for i in dense]
        reduced = _grouped_allreduce(
            [tensor for tensor, _ in small],
            name=name,
            op=op,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
            ignore_name_scope=ignore_name_scope,
            process_set=process_set,
        )
        for i, tensor, (_, ctx) in zip(dense, reduced, small):
            results[i] = compression.decompress(tensor, ctx)
    return results


@not_converted
def reducescatter(
    tensor: Any,
    device_dense: str = "",
    compression: Type[Compressor] = Compression.none,
    op: int = Average,
    name: Optional[str] = None,
    process_set: ProcessSet = global_process_set,
    ignore_name_scope: bool = False,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> tf.Tensor:
    """Reduces a tensor over all ranks; each gets its share of the rows, the first ones more."""
    with tf.device(device_dense):
        small, ctx = _compressed(tensor, compression)
        reduced = _reducescatter(
            small,
            name=name,
            op=op,
            ignore_name_scope=ignore_name_scope,
            process_set=process_set,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
        )
        return compression.decompress(reduced, ctx)


@not_converted
def grouped_reducescatter(
    tensors: Sequence[Any],
    device_dense: str = "",
    compression: Type[Compressor] = Compression.none,
    op: int = Average,
    process_set: ProcessSet = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> Any:
    """The same for tensors of one type that become ready together."""
    if not tensors:
        return tensors
    with tf.device(device_dense):
        small = [_compressed(tensor, compression) for tensor in tensors]
        reduced = _grouped_reducescatter(
            [tensor for tensor, _ in small],
            op=op,
            process_set=process_set,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
        )
        return [compression.decompress(each, ctx) for each, (_, ctx) in zip(reduced, small)]
