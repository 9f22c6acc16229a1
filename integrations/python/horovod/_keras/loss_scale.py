"""Mixed precision: Keras 3 puts a LossScaleOptimizer in front of the optimizer it is given.

That one leaves a step out if gradients are not finite. It must decide by the reduced ones: else a
rank that leaves a step out would not take part in the reduction that others wait for.
"""

from typing import Any

_patched: "set[type]" = set()


def reduce_before_deciding(keras: Any, distributed: Any) -> None:
    """LossScaleOptimizer in front of a `distributed` optimizer has its gradients reduced first."""
    cls = getattr(keras.optimizers, "LossScaleOptimizer", None)
    if cls is None or cls in _patched:
        return
    _patched.add(cls)
    plain_apply = cls.apply

    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        inner: Any = self.inner_optimizer
        variables = trainable_variables
        if variables is None and self.built:
            variables = self._trainable_variables
        if not isinstance(inner, distributed) or isinstance(self, distributed) or variables is None:
            return plain_apply(self, grads, trainable_variables)

        def reduced(gradients: Any, its_variables: Any) -> Any:
            inner._hvdx_paused = True  # what comes to it now has been reduced
            try:
                return plain_apply(self, gradients, its_variables)
            finally:
                inner._hvdx_paused = False

        if not self.built:
            self.build(variables)
        return inner._hvdx_reduction.apply(self, grads, variables, reduced)

    cls.apply = apply
