"""Horovod for tf.keras: `import horovod.tensorflow.keras as hvd`."""

from typing import Any, Optional, Sequence, Type

import tensorflow as _tf

from horovod._keras import on_tensorflow as _below
from horovod._keras.load import load_model as _load_model
from horovod._keras.optimizer import create_distributed_optimizer as _create
from horovod._keras.values import value_functions as _value_functions
from horovod.common.process_sets import (
    ProcessSet,
    add_process_set,
    global_process_set,
    remove_process_set,
)
from horovod.tensorflow._reduce_gradients import Groups, resolve_groups
from horovod.tensorflow.compression import Compression, Compressor
from horovod.tensorflow.keras import callbacks, elastic
from horovod.tensorflow.mpi_ops import (
    Average,
    Sum,
    ccl_built,
    cross_rank,
    cross_size,
    cuda_built,
    ddl_built,
    gloo_built,
    gloo_enabled,
    handle_average_backwards_compatibility,
    init,
    is_initialized,
    local_rank,
    local_size,
    mpi_built,
    mpi_enabled,
    mpi_threads_supported,
    nccl_built,
    rank,
    rocm_built,
    shutdown,
    size,
    start_timeline,
    stop_timeline,
)

allgather, broadcast, reducescatter, broadcast_global_variables = _value_functions(_below)


def DistributedOptimizer(
    optimizer: Any,
    name: Optional[str] = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Type[Compressor] = Compression.none,
    sparse_as_dense: bool = False,
    gradient_predivide_factor: float = 1.0,
    op: int = Average,
    backward_passes_per_step: int = 1,
    average_aggregated_gradients: bool = False,
    num_groups: int = 0,
    groups: Groups = None,
    process_set: ProcessSet = global_process_set,
    scale_local_gradients: bool = True,
) -> Any:
    """An optimizer like the one given that averages gradients over all ranks before each step.

    However gradients are applied, by fit(), minimize(), apply_gradients() or apply(), they are
    reduced once; those of a DistributedGradientTape are not reduced again. See
    horovod.tensorflow.DistributedOptimizer for the arguments.
    """
    return _create(
        optimizer,
        name,
        device_dense,
        device_sparse,
        compression,
        sparse_as_dense,
        gradient_predivide_factor,
        op,
        backward_passes_per_step,
        average_aggregated_gradients,
        resolve_groups(num_groups, groups),
        process_set,
        scale_local_gradients,
    )


def allreduce(
    value: Any,
    name: Optional[str] = None,
    average: Optional[bool] = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    op: Optional[int] = None,
    compression: Type[Compressor] = Compression.none,
) -> Any:
    """Reduces a value over all ranks; the default is the mean."""
    op = handle_average_backwards_compatibility(op, average)
    return _below.allreduce(value, name, op, prescale_factor, postscale_factor, compression)


def load_model(
    filepath: Any,
    custom_optimizers: Optional[Sequence[type]] = None,
    custom_objects: Optional["dict[str, Any]"] = None,
    compression: Type[Compressor] = Compression.none,
    legacy_opts: bool = False,
) -> Any:
    """Loads a model and distributes its optimizer, with the state that was saved.

    custom_optimizers: classes of optimizers that Keras does not know. `legacy_opts` is accepted as
    in Horovod and not needed.
    """

    def wrap(optimizer: Any, variables: Any) -> Any:
        return _create(
            optimizer, None, "", "", compression, False, 1.0, Average, 1, False, None,
            global_process_set, True, variables,
        )  # fmt: skip

    return _load_model(_tf.keras, wrap, filepath, custom_optimizers, custom_objects)
