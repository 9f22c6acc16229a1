"""Local aggregation of gradients for optimizers in graphs."""

from typing import Any, Callable, List

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._gradient_aggregation import GradientAggregation


class LocalGradientAggregationHelper(GradientAggregation):
    """GradientAggregation with the arguments that Horovod's has in graphs."""

    _OPTIMIZER_TYPE_KERAS = "optimizer_type_keras"
    _OPTIMIZER_TYPE_LEGACY = "optimizer_type_legacy"

    def __init__(
        self,
        backward_passes_per_step: int,
        allreduce_func: Callable[..., List[Any]],
        sparse_as_dense: bool,
        average_aggregated_gradients: bool,
        rank: int,
        optimizer_type: str,
        process_set: ProcessSet = global_process_set,
        scale_local_gradients: bool = True,
        name: str = "",
    ) -> None:
        super().__init__(
            backward_passes_per_step,
            allreduce_func,
            sparse_as_dense,
            average_aggregated_gradients,
            process_set,
            scale_local_gradients,
            name,
        )
        self.rank = rank
        self.optimizer_type = optimizer_type
