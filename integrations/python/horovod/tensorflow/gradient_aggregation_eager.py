"""Local aggregation of gradients for optimizers in eager mode."""

from horovod.tensorflow._gradient_aggregation import GradientAggregation


class LocalGradientAggregationHelperEager(GradientAggregation):
    """GradientAggregation under the name that Horovod has for it in eager mode."""
