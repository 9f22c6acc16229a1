"""Gradients reduced over all ranks: what tapes and optimizers have in common."""

import warnings
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Type, Union

import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.common.util import split_list
from horovod.tensorflow._basics import Average, elastic, rocm_built, set_id, size
from horovod.tensorflow._facts import size_op
from horovod.tensorflow._reductions import allreduce, grouped_allreduce
from horovod.tensorflow._xla import compiled_by_xla
from horovod.tensorflow.compression import Compression, Compressor

Groups = Optional[Union[int, Sequence[Sequence[Any]]]]
# (gradients, variables, use_generic_names) -> gradients
ReduceGradients = Callable[..., List[Any]]


def check_predivide(gradient_predivide_factor: float, op: int) -> None:
    """Refuses a division in two parts where there is none."""
    if gradient_predivide_factor == 1.0:
        return
    if rocm_built():
        raise ValueError("gradient_predivide_factor not supported yet with ROCm")
    if op != Average:
        raise ValueError("gradient_predivide_factor not supported with op != Average")


def resolve_groups(num_groups: int, groups: Groups) -> Groups:
    """`groups`, or the old way to say it."""
    if num_groups != 0:
        warnings.warn(
            "Parameter `num_groups` has been replaced by `groups`.",
            DeprecationWarning,
            stacklevel=3,
        )
        groups = num_groups if groups is None else groups
    if groups is None:
        return None
    if isinstance(groups, (list, tuple)):
        return groups
    if isinstance(groups, bool) or not isinstance(groups, int) or groups <= 0:
        raise ValueError(
            "groups should be either an integer > 0 or a list of lists of variables."
        )
    return groups


def reduces(process_set: ProcessSet) -> bool:
    """Whether gradients of this rank go anywhere."""
    if elastic():
        return True
    if process_set is not global_process_set and not process_set.included():
        return False
    return (process_set.size() or 1) > 1


def to_local(
    gradient: Any, process_set: ProcessSet, scale_local_gradients: bool
) -> Any:
    """The gradient of a variable that each rank has for itself."""
    if gradient is None or not scale_local_gradients:
        return gradient
    if elastic():
        members: Any = size_op(set_id(process_set))
    else:
        members = process_set.size() or size()
    if isinstance(gradient, tf.IndexedSlices):
        values = gradient.values / tf.cast(members, gradient.values.dtype)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient / tf.cast(members, gradient.dtype)


class _Reducer:
    """Allreduces lists of gradients in a certain way."""

    def __init__(
        self,
        device_dense: str,
        device_sparse: str,
        compression: Type[Compressor],
        op: int,
        gradient_predivide_factor: float,
        groups: Groups,
        process_set: ProcessSet,
    ) -> None:
        self._groups = groups
        self._how: Dict[str, Any] = {
            "device_dense": device_dense,
            "device_sparse": device_sparse,
            "compression": compression,
            "op": op,
            "process_set": process_set,
        }
        if op == Average and gradient_predivide_factor != 1.0:
            self._how["prescale_factor"] = 1.0 / gradient_predivide_factor
            self._how["postscale_factor"] = gradient_predivide_factor

    def __call__(self, gradients: List[Any], variables: Sequence[Any], generic: bool) -> List[Any]:
        results = list(gradients)
        there = [i for i, gradient in enumerate(gradients) if gradient is not None]
        dense = [i for i in there if not isinstance(gradients[i], tf.IndexedSlices)]
        for chunk in self._chunks(dense, gradients, variables):
            if len(chunk) == 1:
                i = chunk[0]
                results[i] = self._one(gradients[i], i, generic)
                continue
            reduced = grouped_allreduce([gradients[i] for i in chunk],
                                        **self._named(chunk[0], generic), **self._how)
            for i, gradient in zip(chunk, reduced):
                results[i] = gradient
        for i in there:
            if i not in dense:
                results[i] = self._sparse(gradients[i])
        return results

    def _named(self, i: int, generic: bool) -> Dict[str, Any]:
        return {"name": f"grad_{i}", "ignore_name_scope": True} if generic else {}

    def _one(self, gradient: Any, i: int, generic: bool) -> Any:
        return allreduce(gradient, **self._named(i, generic), **self._how)

    def _sparse(self, gradient: tf.IndexedSlices) -> tf.IndexedSlices:
        how = {k: v for k, v in self._how.items() if not k.endswith("scale_factor")}
        return allreduce(gradient, **how)

    def _chunks(
        self, dense: List[int], gradients: Sequence[Any], variables: Sequence[Any]
    ) -> Iterable[List[int]]:
        """Which travel by one call: groups where they are wanted; all if calls are not overlapped.

        One call is for one type.
        """
        if self._groups is None:
            # Eagerly, and in XLA, a call returns when it has ended: one for all.
            at_once = tf.executing_eagerly() or compiled_by_xla()
            parts = [dense] if at_once else [[i] for i in dense]
        elif isinstance(self._groups, int):
            parts = [list(part) for part in split_list(dense, self._groups)]
        else:
            parts = _explicit(self._groups, dense, variables)
        for part in parts:
            by_type: Dict[Any, List[int]] = {}
            for i in part:
                by_type.setdefault(gradients[i].dtype, []).append(i)
            yield from by_type.values()


def _explicit(
    groups: Sequence[Sequence[Any]], dense: List[int], variables: Sequence[Any]
) -> List[List[int]]:
    """Groups of variables as groups of indices; what is in none is alone."""
    group_of = {id(v): number for number, group in enumerate(groups) for v in group}
    parts: Dict[Any, List[int]] = {}
    for i in dense:
        number = group_of.get(id(variables[i])) if i < len(variables) else None
        parts.setdefault(("alone", i) if number is None else number, []).append(i)
    return list(parts.values())


def _make_allreduce_grads_fn(
    name: str,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Type[Compressor] = Compression.none,
    sparse_as_dense: bool = False,
    op: int = Average,
    gradient_predivide_factor: float = 1.0,
    groups: Groups = None,
    process_set: ProcessSet = global_process_set,
) -> ReduceGradients:
    """A function that reduces a list of gradients; None stays None."""
    reducer = _Reducer(
        device_dense,
        device_sparse,
        compression,
        op,
        gradient_predivide_factor,
        groups,
        process_set,
    )

    def allreduce_grads(
        grads: Sequence[Any], vars: Sequence[Any] = (), use_generic_names: bool = False  # noqa: A002
    ) -> List[Any]:
        with tf.name_scope(name + "_Allreduce"):
            gradients = list(grads)
            if sparse_as_dense:
                gradients = [
                    tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g
                    for g in gradients
                ]
            if not reduces(process_set):
                return gradients
            return reducer(gradients, list(vars), use_generic_names)

    return allreduce_grads


def mark_reduced(gradients: Iterable[Any]) -> None:
    """For optimizers that reduce what they are given: not these."""
    for gradient in gradients:
        if gradient is not None:
            gradient._hvdx_reduced = True


def are_reduced(gradients: Iterable[Any]) -> bool:
    """Whether a tape has reduced them, and nobody has changed them since."""
    there = [gradient for gradient in gradients if gradient is not None]
    return bool(there) and all(getattr(g, "_hvdx_reduced", False) for g in there)
