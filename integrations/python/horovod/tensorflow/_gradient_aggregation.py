"""Gradients added up over several backward passes before they travel, eagerly and in graphs."""

from typing import Any, Callable, List, Sequence

import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._reduce_gradients import to_local
from horovod.tensorflow.util import not_converted


class GradientAggregation:
    """Adds up gradients; every `backward_passes_per_step`-th call reduces the sums.

    Its variables are made by the first call: a counter, and a sum for every gradient.
    """

    def __init__(
        self,
        backward_passes_per_step: int,
        allreduce_func: Callable[..., List[Any]],
        sparse_as_dense: bool,
        average_aggregated_gradients: bool,
        process_set: ProcessSet = global_process_set,
        scale_local_gradients: bool = True,
        name: str = "",
    ) -> None:
        if backward_passes_per_step <= 0:
            raise ValueError("backward_passes_per_step must be > 0")
        self.backward_passes_per_step = backward_passes_per_step
        self.sparse_as_dense = sparse_as_dense
        self.average_aggregated_gradients = average_aggregated_gradients
        self.process_set = process_set
        self.scale_local_gradients = scale_local_gradients
        self.counter: Any = None
        self._allreduce = allreduce_func
        self._name = name
        self._sums: List[Any] = []
        self._local_vars: List[Any] = []

    def register_local_var(self, var: Any) -> None:
        """The gradient of this variable is this rank's own."""
        if not self._is_local(var):
            self._local_vars.append(var)

    def _is_local(self, var: Any) -> bool:
        return any(var is each for each in self._local_vars)

    # --- adding up

    def _dense(self, gradient: Any) -> Any:
        if not isinstance(gradient, tf.IndexedSlices):
            return gradient
        if self.sparse_as_dense:
            return tf.convert_to_tensor(gradient)
        raise ValueError(
            "IndexedSlices are not supported when `backward_passes_per_step` > 1 and "
            "`sparse_as_dense` is False."
        )

    def _variable(self, value: Any, name: str) -> Any:
        return tf.Variable(value, trainable=False, name=(self._name or "aggregation") + name)

    def _make_variables(self, gradients: Sequence[Any]) -> None:
        if self.counter is not None:
            return
        like = [(g.shape, g.dtype) for g in gradients]
        with tf.init_scope():
            self.counter = self._variable(tf.zeros([], tf.int32), "_counter")
            self._sums = [
                self._variable(tf.zeros(shape, dtype), f"_sum_{i}")
                for i, (shape, dtype) in enumerate(like)
            ]

    @not_converted
    def compute_gradients(self, grads: Sequence[Any], vars: Sequence[Any]) -> List[Any]:  # noqa: A002
        """Takes the gradients of one pass; gives the reduced sums on the last, else what came."""
        if self.backward_passes_per_step == 1:
            return self._reduced(grads, vars)
        grads = [self._dense(g) for g in grads]
        there = [i for i, g in enumerate(grads) if g is not None]
        present = [grads[i] for i in there]
        chosen = [vars[i] for i in there]
        self._make_variables(present)
        with tf.control_dependencies(present):
            counted = self.counter.assign_add(1)
            summed = [s.assign_add(g) for s, g in zip(self._sums, present)]
        with tf.control_dependencies([counted, *summed]):
            last = tf.greater_equal(self.counter.read_value(), self.backward_passes_per_step)
            results = tf.cond(
                last, lambda: self._take(chosen), lambda: [tf.identity(g) for g in present]
            )
        every: List[Any] = [None] * len(grads)
        for i, result in zip(there, results):
            every[i] = result
        return every

    def _take(self, variables: Sequence[Any]) -> List[Any]:
        """The sums, reduced; they begin anew."""
        sums = [s.read_value() for s in self._sums]
        if self.average_aggregated_gradients:
            sums = [s / tf.cast(self.backward_passes_per_step, s.dtype) for s in sums]
        reduced = [tf.identity(g) for g in self._reduced(sums, variables)]
        with tf.control_dependencies(reduced):
            cleared = [self.counter.assign(0), *(s.assign(tf.zeros_like(s)) for s in self._sums)]
        with tf.control_dependencies(cleared):
            return [tf.identity(g) for g in reduced]

    def _reduced(self, gradients: Sequence[Any], variables: Sequence[Any]) -> List[Any]:
        travel = [i for i, v in enumerate(variables) if not self._is_local(v)]
        results = [
            to_local(g, self.process_set, self.scale_local_gradients) if self._is_local(v) else g
            for g, v in zip(gradients, variables)
        ]
        reduced = self._allreduce([gradients[i] for i in travel], [variables[i] for i in travel])
        for i, gradient in zip(travel, reduced):
            results[i] = gradient
        return results

    # --- applying

    def _count_step(self, optimizer: Any, kwargs: Any) -> Any:
        """What a step that changes nothing still changes."""
        step = kwargs.get("global_step")
        if step is None:
            step = getattr(optimizer, "iterations", None)
        if step is None:
            return tf.no_op()
        return _as_operation(step.assign_add(tf.ones_like(tf.convert_to_tensor(step))))

    @not_converted
    def apply_gradients(
        self, apply_grads_closure: Callable[[], Any], optimizer: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Runs the closure if the last compute_gradients() has reduced; else counts the step."""
        if self.backward_passes_per_step == 1 or self.counter is None:
            return apply_grads_closure()

        gradients = [g for g, _ in (args[0] if args else []) if g is not None]
        with tf.control_dependencies(gradients):
            reduced = tf.equal(self.counter.read_value(), 0)
        return tf.cond(
            reduced,
            lambda: _as_operation(apply_grads_closure()),
            lambda: self._count_step(optimizer, kwargs),
        )


def _as_operation(done: Any) -> Any:
    """What both branches of a graph can return."""
    if tf.executing_eagerly():
        return None
    return tf.no_op() if done is None else tf.group(done)
