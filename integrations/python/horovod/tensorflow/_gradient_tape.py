"""Tapes whose gradients are reduced over all ranks."""

from typing import Any, List, Optional, Sequence, Tuple, Type

import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._basics import Average
from horovod.tensorflow._reduce_gradients import (
    Groups,
    _make_allreduce_grads_fn,
    check_predivide,
    mark_reduced,
    resolve_groups,
    to_local,
)
from horovod.tensorflow.compression import Compression, Compressor
from horovod.tensorflow.util import not_converted

Pairs = List[Tuple[Any, Any]]


class _DistributedTape:
    """What a distributed tape has in addition to TensorFlow's."""

    def _begin(self, allreduce_grads: Any, process_set: ProcessSet, scale_local: bool) -> None:
        self._allreduce_grads = allreduce_grads
        self._process_set = process_set
        self._scale_local_gradients = scale_local
        self._local_sources: List[Any] = []

    def register_local_source(self, source: Any) -> None:
        """The gradient of this source is this rank's own."""
        if not self._is_local(source):
            self._local_sources.append(source)

    def _is_local(self, source: Any) -> bool:
        return any(source is each for each in self._local_sources)

    @not_converted
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        use_generic_names: bool = False,
    ) -> Any:
        """The reduced gradients in the order of `sources`, a list; None stays None."""
        listed = isinstance(sources, (list, tuple))
        flat = list(sources) if listed else [sources]
        gradients = super().gradient(target, flat, output_gradients)  # type: ignore[misc]
        results = self._reduced(gradients, flat, use_generic_names)
        return results if listed else results[0]

    def _reduced(
        self, gradients: Sequence[Any], sources: Sequence[Any], generic: bool
    ) -> List[Any]:
        travel = [i for i, source in enumerate(sources) if not self._is_local(source)]
        results = [
            to_local(gradient, self._process_set, self._scale_local_gradients)
            if self._is_local(source)
            else None
            for gradient, source in zip(gradients, sources)
        ]
        reduced = self._allreduce_grads(
            [gradients[i] for i in travel], [sources[i] for i in travel], generic
        )
        for i, gradient in zip(travel, reduced):
            results[i] = gradient
        mark_reduced(results)
        return results

    @not_converted
    def get_local_and_global_gradients(
        self,
        target: Any,
        sources: Sequence[Any],
        output_gradients: Any = None,
        use_generic_names: bool = False,
    ) -> Tuple[Pairs, Pairs]:
        """Pairs of source and gradient: those that stay here, and those of all ranks."""
        gradients = self.gradient(target, list(sources), output_gradients, use_generic_names)
        pairs = list(zip(sources, gradients))
        local = [pair for pair in pairs if self._is_local(pair[0])]
        return local, [pair for pair in pairs if not self._is_local(pair[0])]


def DistributedGradientTape(
    gradtape: tf.GradientTape,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Type[Compressor] = Compression.none,
    sparse_as_dense: bool = False,
    op: int = Average,
    gradient_predivide_factor: float = 1.0,
    num_groups: int = 0,
    groups: Groups = None,
    process_set: ProcessSet = global_process_set,
    scale_local_gradients: bool = True,
) -> Any:
    """A tape like the one given whose gradient() reduces over all ranks.

    gradtape: has recorded, or will, as in `with hvd.DistributedGradientTape(tf.GradientTape())`.
    device_dense, device_sparse: where the reductions happen.
    compression: what travels, e.g. hvd.Compression.fp16.
    sparse_as_dense: tf.IndexedSlices travel as dense tensors.
    op: Average, Sum or Adasum.
    gradient_predivide_factor: for Average, a part of the division is done before the sum.
    groups: a number of groups, or lists of variables, whose gradients travel together.
    process_set: the ranks that reduce together; others keep their gradients.
    scale_local_gradients: gradients of local sources are divided by the number of ranks.
    """
    check_predivide(gradient_predivide_factor, op)
    base = gradtape.__class__
    tape: Any = object.__new__(
        type(base.__name__, (_DistributedTape, base), {"__module__": base.__module__})
    )
    tape.__dict__.update(gradtape.__dict__)
    reduce = _make_allreduce_grads_fn(
        "DistributedGradientTape",
        device_dense,
        device_sparse,
        compression,
        sparse_as_dense,
        op,
        gradient_predivide_factor,
        resolve_groups(num_groups, groups),
        process_set,
    )
    tape._begin(reduce, process_set, scale_local_gradients)
    return tape


def weights_of_layers(local_layers: Any) -> List[Any]:
    """The trainable weights of one Keras layer or several."""
    if local_layers is None:
        return []
    several = isinstance(local_layers, (list, tuple, set, frozenset))
    layers = list(local_layers) if several else [local_layers]
    if not all(_is_layer(layer) for layer in layers):
        raise ValueError("All local layers must be of tf.keras.layers.Layer type.")
    return [weight for layer in layers for weight in layer.trainable_weights]


def _is_layer(layer: Any) -> bool:
    # Keras 3's, tf_keras' or Keras 2's: without importing one that is not in use.
    return any(
        base.__name__ == "Layer" and "keras" in base.__module__ for base in type(layer).__mro__
    )


def PartialDistributedGradientTape(
    gradtape: tf.GradientTape,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Type[Compressor] = Compression.none,
    sparse_as_dense: bool = False,
    op: int = Average,
    gradient_predivide_factor: float = 1.0,
    num_groups: int = 0,
    groups: Groups = None,
    process_set: ProcessSet = global_process_set,
    local_layers: Optional[Any] = None,
    scale_local_gradients: bool = True,
) -> Any:
    """DistributedGradientTape where the weights of `local_layers` are each rank's own."""
    tape = DistributedGradientTape(
        gradtape,
        device_dense,
        device_sparse,
        compression,
        sparse_as_dense,
        op,
        gradient_predivide_factor,
        num_groups,
        groups,
        process_set,
        scale_local_gradients,
    )
    for weight in weights_of_layers(local_layers):
        tape.register_local_source(weight)
    return tape
