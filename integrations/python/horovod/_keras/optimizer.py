"""An optimizer of Keras whose gradients are reduced over all ranks, exactly once."""

from typing import Any, Optional, Sequence

from horovod._keras.backend import basics, framework_below, is_keras_3, keras_of
from horovod._keras.jit import stay_out_of_xla
from horovod._keras.loss_scale import reduce_before_deciding
from horovod.common.process_sets import ProcessSet


class _Distributed:
    """What a distributed optimizer has in addition to Keras'."""

    _HAS_AGGREGATE_GRAD = True
    _hvdx_reduction: Any
    _hvdx_paused = False  # somebody in front of it reduces

    def register_local_var(self, var: Any) -> None:
        """The gradient of this variable is this rank's own."""
        self._hvdx_reduction.register_local_var(var)


class _DistributedKeras3(_Distributed):
    """Keras 3: whoever applies gradients does it by apply()."""

    def apply(self, grads: Sequence[Any], trainable_variables: Any = None) -> Any:
        """Reduces gradients over all ranks and applies them."""
        if self._hvdx_paused or not self._is_ready(trainable_variables):
            return super().apply(grads, trainable_variables)  # type: ignore[misc]
        known = trainable_variables
        if known is None:
            known = self._trainable_variables  # type: ignore[attr-defined]
        base_apply = super().apply  # type: ignore[misc]
        return self._hvdx_reduction.apply(self, grads, known, base_apply)

    def _is_ready(self, trainable_variables: Any) -> bool:
        return trainable_variables is not None or self.built  # type: ignore[attr-defined]


class _DistributedKeras2(_Distributed):
    """Keras 2: whoever applies gradients does it by apply_gradients()."""

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        """Reduces gradients over all ranks and applies them."""
        pairs = list(grads_and_vars)
        base_apply = super().apply_gradients  # type: ignore[misc]
        return self._hvdx_reduction.apply(
            self,
            [gradient for gradient, _ in pairs],
            [variable for _, variable in pairs],
            lambda g, v: base_apply(list(zip(g, v)), *args, **kwargs),
        )


def _like(optimizer: Any) -> Any:
    """A new optimizer with the same settings, of a class of the same name that also reduces."""
    base = optimizer.__class__
    if issubclass(base, _Distributed):
        raise ValueError("The optimizer is distributed already.")
    mixin = _DistributedKeras3 if is_keras_3(optimizer) else _DistributedKeras2
    # The name and the place of the original: a saved model can be loaded without Horovod.
    cls: Any = type(base.__name__, (mixin, base), {"__module__": base.__module__})
    config = optimizer.get_config()
    schedule = getattr(optimizer, "_learning_rate", None)
    if "learning_rate" in config and "Schedule" in _class_names(schedule):
        config["learning_rate"] = schedule  # as it is: it may not know how to be saved
    return cls.from_config(config)


def _class_names(thing: Any) -> str:
    return " ".join(base.__name__ for base in type(thing).__mro__)


def _take_state(new: Any, old: Any, variables: Optional[Sequence[Any]]) -> None:
    """Slots and counters of an optimizer that has been used or loaded."""
    if is_keras_3(old):
        # Keras 3 builds an optimizer from an .h5 file for no variables, and it can't be used.
        if not old.built or not old._trainable_variables:
            return
        new.build(old._trainable_variables)
        values: Any = old.variables
        for mine, its in zip(new.variables, values):
            mine.assign(its)
    elif variables is not None:
        weights = [v.numpy() for v in _variables_of(old)]
        if hasattr(new, "build"):
            new.build(variables)
        else:
            new._create_all_weights(variables)
        for mine, weight in zip(_variables_of(new), weights):
            mine.assign(weight)


def _variables_of(optimizer: Any) -> Any:
    """A list in some versions, a function in others."""
    variables = optimizer.variables
    return variables() if callable(variables) else variables


def variables_of(optimizer: Any) -> "list[Any]":
    """All variables of an optimizer of any Keras."""
    return list(_variables_of(optimizer))


def create_distributed_optimizer(
    optimizer: Any,
    name: Optional[str],
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
    variables: Optional[Sequence[Any]] = None,
) -> Any:
    """hvd.DistributedOptimizer of any Keras. `variables`: those that a loaded one is for."""
    if op not in (basics.Average, basics.Sum):
        raise ValueError("op currently only supports Average and Sum")
    if gradient_predivide_factor != 1.0:
        if basics.rocm_built():
            raise ValueError("gradient_predivide_factor not supported yet with ROCm")
        if op != basics.Average:
            raise ValueError("gradient_predivide_factor not supported with op != Average")
    if backward_passes_per_step <= 0:
        raise ValueError("backward_passes_per_step must be > 0")
    if groups is not None and not isinstance(groups, (list, tuple)):
        if isinstance(groups, bool) or not isinstance(groups, int) or groups <= 0:
            raise ValueError("groups should be an integer > 0 or a list of lists of variables.")
    new = _like(optimizer)
    if is_keras_3(optimizer):
        reduce_before_deciding(keras_of(optimizer), _DistributedKeras3)
        stay_out_of_xla(keras_of(optimizer), _DistributedKeras3)
    # Not a thing that Keras tracks and saves.
    object.__setattr__(
        new,
        "_hvdx_reduction",
        framework_below(keras_of(optimizer)).Reduction(
            name or f"Distributed{type(optimizer).__name__}",
            device_dense,
            device_sparse,
            compression,
            sparse_as_dense,
            gradient_predivide_factor,
            op,
            backward_passes_per_step,
            average_aggregated_gradients,
            groups,
            process_set,
            scale_local_gradients,
        ),
    )
    _take_state(new, optimizer, variables)
    return new
