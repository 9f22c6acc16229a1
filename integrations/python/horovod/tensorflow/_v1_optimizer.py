"""DistributedOptimizer for the optimizers of tf.compat.v1."""

from typing import Any, List, Optional, Sequence, Tuple, Type

import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._basics import Adasum, Average, rank
from horovod.tensorflow._reduce_gradients import (
    Groups,
    _make_allreduce_grads_fn,
    check_predivide,
    resolve_groups,
    to_local,
)
from horovod.tensorflow._reductions import allreduce
from horovod.tensorflow.compression import Compression, Compressor
from horovod.tensorflow.gradient_aggregation import LocalGradientAggregationHelper

V1Optimizer = tf.compat.v1.train.Optimizer
Pairs = List[Tuple[Any, Any]]


class _Delegating(V1Optimizer):  # type: ignore[misc, valid-type]
    """An optimizer in front of another, which does the work."""

    def __init__(self, optimizer: Any, name: str, use_locking: bool) -> None:
        super().__init__(name=name, use_locking=use_locking)
        self._optimizer = optimizer

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Pairs:
        return self._optimizer.compute_gradients(*args, **kwargs)  # type: ignore[no-any-return]

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.variables(*args, **kwargs)


class GradientOptimizer(_Delegating):
    """compute_gradients() reduces over all ranks."""

    def __init__(
        self,
        optimizer: Any,
        name: str,
        use_locking: bool,
        allreduce_grads: Any,
        sparse_as_dense: bool,
        backward_passes_per_step: int,
        average_aggregated_gradients: bool,
        process_set: ProcessSet,
        scale_local_gradients: bool,
    ) -> None:
        super().__init__(optimizer, name, use_locking)
        self._allreduce_grads = allreduce_grads
        self._process_set = process_set
        self._scale_local_gradients = scale_local_gradients
        self._local_vars: List[Any] = []
        self._aggregation: Optional[LocalGradientAggregationHelper] = None
        if backward_passes_per_step > 1:
            self._aggregation = LocalGradientAggregationHelper(
                backward_passes_per_step,
                allreduce_grads,
                sparse_as_dense,
                average_aggregated_gradients,
                rank(),
                LocalGradientAggregationHelper._OPTIMIZER_TYPE_LEGACY,
                process_set,
                scale_local_gradients,
                name,
            )

    def register_local_var(self, var: Any) -> None:
        """The gradient of this variable is this rank's own."""
        if self._aggregation is not None:
            self._aggregation.register_local_var(var)
        elif not any(var is each for each in self._local_vars):
            self._local_vars.append(var)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Pairs:
        """The wrapped optimizer's gradients, reduced over all ranks."""
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        gradients = [gradient for gradient, _ in pairs]
        variables = [variable for _, variable in pairs]
        if self._aggregation is not None:
            reduced = self._aggregation.compute_gradients(gradients, variables)
        else:
            reduced = self._reduced(gradients, variables)
        return list(zip(reduced, variables))

    def _reduced(self, gradients: Sequence[Any], variables: Sequence[Any]) -> List[Any]:
        local = [any(v is each for each in self._local_vars) for v in variables]
        travel = [i for i, stays in enumerate(local) if not stays]
        results = [
            to_local(g, self._process_set, self._scale_local_gradients) if stays else None
            for g, stays in zip(gradients, local)
        ]
        reduced = self._allreduce_grads(
            [gradients[i] for i in travel], [variables[i] for i in travel]
        )
        for i, gradient in zip(travel, reduced):
            results[i] = gradient
        return results

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's; with aggregation, on the last pass of a step only."""
        if self._aggregation is None:
            return self._optimizer.apply_gradients(*args, **kwargs)
        return self._aggregation.apply_gradients(
            lambda: self._optimizer.apply_gradients(*args, **kwargs),
            self._optimizer,
            *args,
            **kwargs,
        )


class DeltaOptimizer(_Delegating):
    """Adasum: every rank makes its own step; the changes since the last meeting are reduced."""

    def __init__(
        self,
        optimizer: Any,
        name: str,
        use_locking: bool,
        device_dense: str,
        compression: Type[Compressor],
        backward_passes_per_step: int,
    ) -> None:
        super().__init__(optimizer, name, use_locking)
        self._device_dense = device_dense
        self._compression = compression
        self._passes = backward_passes_per_step
        self._step_count: Any = None

    def _meet(self, variables: Sequence[Any], starts: Sequence[Any]) -> List[Any]:
        """Where all ranks' changes together lead to."""
        with tf.name_scope(self._name + "_Allreduce"):
            changes = [
                allreduce(
                    tf.convert_to_tensor(v) - tf.convert_to_tensor(start),
                    device_dense=self._device_dense,
                    compression=self._compression,
                    op=Adasum,
                )
                for v, start in zip(variables, starts)
            ]
        met = [tf.convert_to_tensor(start) + change for start, change in zip(starts, changes)]
        assigned = [v.assign(value) for v, value in zip(variables, met)]
        return assigned + [start.assign(value) for start, value in zip(starts, met)]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """A step of the wrapped optimizer; every few of them the ranks meet."""
        pairs = list(grads_and_vars)
        variables = [v for g, v in pairs if g is not None]
        starts = [self._start_of(v) for v in variables]
        with tf.control_dependencies([tf.convert_to_tensor(start) for start in starts]):
            applied = self._optimizer.apply_gradients(pairs, global_step, name)
        if self._step_count is None:
            with tf.init_scope():
                self._step_count = tf.Variable(0, trainable=False, name="step_count")
        with tf.control_dependencies([] if applied is None else [applied]):
            counted = self._step_count.assign_add(1)

        def meet() -> Any:
            return _nothing(self._meet(variables, starts))

        with tf.control_dependencies([counted]):
            due = tf.equal(self._step_count.read_value() % self._passes, 0)
            if tf.executing_eagerly():
                return meet() if bool(due) else None
            return tf.cond(due, meet, tf.no_op)

    def _start_of(self, variable: Any) -> Any:
        """The slot that holds the value at the last meeting; at first the initial one."""
        if tf.executing_eagerly():
            initial = tf.convert_to_tensor(variable)
        else:
            # Initializers of a graph run in any order: the variable may have no value yet.
            initial = tf.cond(
                tf.compat.v1.is_variable_initialized(variable),
                variable.read_value,
                lambda: variable.initial_value,
            )
        return self._get_or_make_slot(variable, initial, "delta_start", self._name)


def _nothing(done: Sequence[Any]) -> Any:
    return None if tf.executing_eagerly() else tf.group(*done)


def distributed_v1_optimizer(
    optimizer: Any,
    name: Optional[str] = None,
    use_locking: bool = False,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Type[Compressor] = Compression.none,
    sparse_as_dense: bool = False,
    backward_passes_per_step: int = 1,
    op: int = Average,
    gradient_predivide_factor: float = 1.0,
    average_aggregated_gradients: bool = False,
    num_groups: int = 0,
    groups: Groups = None,
    process_set: ProcessSet = global_process_set,
    scale_local_gradients: bool = True,
) -> Any:
    """hvd.DistributedOptimizer for a tf.compat.v1.train.Optimizer."""
    check_predivide(gradient_predivide_factor, op)
    if backward_passes_per_step <= 0:
        raise ValueError("backward_passes_per_step must be > 0")
    class_name = type(optimizer).__name__
    if op == Adasum:
        if average_aggregated_gradients:
            raise ValueError("Adasum does not support average_aggregated_gradients.")
        if process_set is not global_process_set:
            raise NotImplementedError("Adasum does not support non-global process sets yet.")
        return DeltaOptimizer(
            optimizer,
            name or f"DistributedDelta{class_name}",
            use_locking,
            device_dense,
            compression,
            backward_passes_per_step,
        )
    if backward_passes_per_step > 1 and tf.executing_eagerly():
        raise ValueError(
            "backward_passes_per_step > 1 is not supported in eager mode with the optimizers of "
            "tf.compat.v1; use a Keras optimizer."
        )
    name = name or f"Distributed{class_name}"
    reduce = _make_allreduce_grads_fn(
        name,
        device_dense,
        device_sparse,
        compression,
        sparse_as_dense,
        op,
        gradient_predivide_factor,
        resolve_groups(num_groups, groups),
        process_set,
    )
    return GradientOptimizer(
        optimizer,
        name,
        use_locking,
        reduce,
        sparse_as_dense,
        backward_passes_per_step,
        average_aggregated_gradients,
        process_set,
        scale_local_gradients,
    )
