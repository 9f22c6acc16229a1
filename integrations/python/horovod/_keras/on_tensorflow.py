"""Keras on TensorFlow: gradients, variables and values."""

from typing import Any, Callable, List, Optional, Sequence

import tensorflow as tf

import horovod.tensorflow as hvd
from horovod.common.process_sets import ProcessSet
from horovod.tensorflow._gradient_aggregation import GradientAggregation
from horovod.tensorflow._reduce_gradients import _make_allreduce_grads_fn, are_reduced
from horovod.tensorflow.util import not_converted

Compression = hvd.Compression


class Reduction:
    """How the gradients of one optimizer are reduced."""

    def __init__(
        self,
        name: str,
        device_dense: str,
        device_sparse: str,
        compression: Any,
        sparse_as_dense: bool,
        gradient_predivide_factor: float,
        op: int,
        backward_passes_per_step: int,
        average_aggregated_gradients: bool,
        groups: Any,
        process_set: ProcessSet,
        scale_local_gradients: bool,
    ) -> None:
        allreduce_grads = _make_allreduce_grads_fn(
            name,
            device_dense,
            device_sparse,
            compression,
            sparse_as_dense,
            op,
            gradient_predivide_factor,
            groups,
            process_set,
        )
        self._aggregation = GradientAggregation(
            backward_passes_per_step,
            allreduce_grads,
            sparse_as_dense,
            average_aggregated_gradients,
            process_set,
            scale_local_gradients,
            name,
        )

    def register_local_var(self, var: Any) -> None:
        """The gradient of this variable is this rank's own."""
        self._aggregation.register_local_var(var)

    @not_converted
    def apply(
        self,
        optimizer: Any,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        apply: Callable[[List[Any], List[Any]], Any],
    ) -> Any:
        """Reduces and applies; what a DistributedGradientTape has reduced is applied as it is."""
        gradients, variables = list(gradients), list(variables)
        if are_reduced(gradients):
            return apply(gradients, variables)
        if self._aggregation.backward_passes_per_step > 1 and not optimizer.built:
            with tf.init_scope():
                optimizer.build(variables)  # not in a branch of a graph
        reduced = self._aggregation.compute_gradients(gradients, variables)
        return self._aggregation.apply_gradients(
            lambda: apply(reduced, variables), optimizer, list(zip(reduced, variables))
        )


def broadcast_variables(variables: Sequence[Any], root_rank: int, device: str = "") -> Any:
    """Gives the root's values to the variables of all ranks."""
    with tf.device(device):
        return hvd.broadcast_variables(list(variables), root_rank)


def _evaluated(result: Any) -> Any:
    if tf.executing_eagerly():
        return result
    return tf.compat.v1.keras.backend.get_session().run(result)


def allreduce(
    value: Any,
    name: Optional[str],
    op: int,
    prescale_factor: float,
    postscale_factor: float,
    compression: Any,
) -> Any:
    """Reduces a value over all ranks."""
    return _evaluated(
        hvd.allreduce(
            tf.constant(value),
            name=name,
            op=op,
            prescale_factor=prescale_factor,
            postscale_factor=postscale_factor,
            compression=compression,
        )
    )


def allgather(value: Any, name: Optional[str]) -> Any:
    """The values of all ranks, one behind the other."""
    return _evaluated(hvd.allgather(tf.constant(value), name=name))


def broadcast(value: Any, root_rank: int, name: Optional[str]) -> Any:
    """The root's value."""
    return _evaluated(hvd.broadcast(tf.constant(value), root_rank, name=name))


def reducescatter(value: Any, name: Optional[str], op: int) -> Any:
    """This rank's rows of the reduced value."""
    return _evaluated(hvd.reducescatter(tf.constant(value), name=name, op=op))


def broadcast_global_variables(root_rank: int) -> Any:
    """For graphs of TensorFlow 1."""
    return _evaluated(hvd.broadcast_global_variables(root_rank))
