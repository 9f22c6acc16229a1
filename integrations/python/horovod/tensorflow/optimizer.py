"""DistributedOptimizer: any optimizer, with gradients reduced over all ranks."""

from typing import Any, Optional, Type

import tensorflow as tf

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.tensorflow._basics import Adasum, Average
from horovod.tensorflow._reduce_gradients import Groups, resolve_groups
from horovod.tensorflow._v1_optimizer import distributed_v1_optimizer
from horovod.tensorflow.compression import Compression, Compressor


def DistributedOptimizer(
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
    """An optimizer like the one given that reduces gradients over all ranks before each step.

    optimizer: of tf.compat.v1.train, or of Keras (see horovod.tensorflow.keras).
    name: the reductions are in the name scope <name>_Allreduce.
    device_dense, device_sparse: where the reductions happen.
    compression: what travels, e.g. hvd.Compression.fp16.
    sparse_as_dense: tf.IndexedSlices travel as dense tensors.
    backward_passes_per_step: passes whose gradients are added up before they travel.
    op: Average, Sum or Adasum.
    gradient_predivide_factor: for Average, a part of the division is done before the sum.
    average_aggregated_gradients: the sum over passes is divided by their number.
    groups: a number of groups, or lists of variables, whose gradients travel together.
    process_set: the ranks that reduce together; others keep their gradients.
    scale_local_gradients: gradients of local variables are divided by the number of ranks.
    """
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        return distributed_v1_optimizer(
            optimizer,
            name,
            use_locking,
            device_dense,
            device_sparse,
            compression,
            sparse_as_dense,
            backward_passes_per_step,
            op,
            gradient_predivide_factor,
            average_aggregated_gradients,
            num_groups,
            groups,
            process_set,
            scale_local_gradients,
        )
    if op == Adasum:
        raise ValueError("op == Adasum is not supported yet with Keras")
    import horovod.tensorflow.keras as hvd_keras

    return hvd_keras.DistributedOptimizer(
        optimizer,
        name=name,
        device_dense=device_dense,
        device_sparse=device_sparse,
        compression=compression,
        sparse_as_dense=sparse_as_dense,
        gradient_predivide_factor=gradient_predivide_factor,
        op=op,
        backward_passes_per_step=backward_passes_per_step,
        average_aggregated_gradients=average_aggregated_gradients,
        groups=resolve_groups(num_groups, groups),
        process_set=process_set,
        scale_local_gradients=scale_local_gradients,
    )


__all__ = ["DistributedOptimizer"]
