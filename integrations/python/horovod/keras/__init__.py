"""Horovod for Keras, on TensorFlow or PyTorch: `import horovod.keras as hvd`."""

from typing import Any, Optional, Sequence

import keras as _keras

from horovod._keras.backend import basics as _basics
from horovod._keras.backend import framework_below as _framework_below
from horovod._keras.load import load_model as _load_model
from horovod._keras.optimizer import create_distributed_optimizer as _create
from horovod._keras.values import value_functions as _value_functions
from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.common.util import get_average_backwards_compatibility_fun as _average_fun
from horovod.keras import callbacks, elastic

_below = _framework_below(_keras)

init = _basics.init
shutdown = _basics.shutdown
is_initialized = _basics.is_initialized
start_timeline = _basics.start_timeline
stop_timeline = _basics.stop_timeline
size = _basics.size
local_size = _basics.local_size
cross_size = _basics.cross_size
rank = _basics.rank
local_rank = _basics.local_rank
cross_rank = _basics.cross_rank
mpi_threads_supported = _basics.mpi_threads_supported
mpi_enabled = _basics.mpi_enabled
mpi_built = _basics.mpi_built
gloo_enabled = _basics.gloo_enabled
gloo_built = _basics.gloo_built
nccl_built = _basics.nccl_built
ddl_built = _basics.ddl_built
ccl_built = _basics.ccl_built
cuda_built = _basics.cuda_built
rocm_built = _basics.rocm_built

Average = _basics.Average
Sum = _basics.Sum
Adasum = _basics.Adasum
Compression = _below.Compression

allgather, broadcast, reducescatter, broadcast_global_variables = _value_functions(_below)
_handle_average = _average_fun(_basics)


def DistributedOptimizer(
    optimizer: Any,
    name: Optional[str] = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    gradient_predivide_factor: float = 1.0,
    op: int = Average,
    num_groups: int = 0,
    groups: Any = None,
) -> Any:
    """An optimizer like the one given that averages gradients over all ranks before each step.

    However gradients are applied they are reduced once.

    name: the reductions are in the name scope <name>_Allreduce.
    compression: what travels, e.g. hvd.Compression.fp16.
    sparse_as_dense: tf.IndexedSlices travel as dense tensors.
    gradient_predivide_factor: for Average, a part of the division is done before the sum.
    op: Average or Sum.
    groups: a number of groups, or lists of variables, whose gradients travel together.
    """
    return PartialDistributedOptimizer(
        optimizer,
        name,
        device_dense,
        device_sparse,
        compression,
        sparse_as_dense,
        gradient_predivide_factor,
        op,
        groups=(num_groups or None) if groups is None else groups,
    )


def PartialDistributedOptimizer(
    optimizer: Any,
    name: Optional[str] = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    gradient_predivide_factor: float = 1.0,
    op: int = Average,
    backward_passes_per_step: int = 1,
    average_aggregated_gradients: bool = False,
    groups: Any = None,
    process_set: ProcessSet = global_process_set,
    local_layers: Any = None,
    scale_local_gradients: bool = True,
) -> Any:
    """DistributedOptimizer where the weights of `local_layers` are each rank's own.

    local_layers: a layer or several. Their gradients are divided by the number of ranks if
    scale_local_gradients.
    backward_passes_per_step: passes whose gradients are added up before they travel;
    average_aggregated_gradients divides the sum by their number.
    process_set: the ranks that reduce together; others keep their gradients.
    """
    weights = _weights_of(local_layers)
    distributed = _create(
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
        groups,
        process_set,
        scale_local_gradients,
    )
    for weight in weights:
        distributed.register_local_var(weight)
    return distributed


def _weights_of(local_layers: Any) -> "list[Any]":
    if local_layers is None:
        return []
    several = isinstance(local_layers, (list, tuple, set, frozenset))
    layers = list(local_layers) if several else [local_layers]
    if not all(isinstance(layer, _keras.layers.Layer) for layer in layers):
        raise ValueError("All local layers must be of tf.keras.layers.Layer type.")
    return [weight for layer in layers for weight in layer.trainable_weights]


def allreduce(
    value: Any,
    name: Optional[str] = None,
    average: Optional[bool] = True,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    op: Optional[int] = None,
    compression: Any = Compression.none,
) -> Any:
    """Reduces a value over all ranks; the default is the mean. With `op`, `average` is not used."""
    if op is None or average is not True:
        op = Average if op is None and average is True else _handle_average(op, average)
    return _below.allreduce(value, name, op, prescale_factor, postscale_factor, compression)


def load_model(
    filepath: Any,
    custom_optimizers: Optional[Sequence[type]] = None,
    custom_objects: Optional["dict[str, Any]"] = None,
    compression: Any = Compression.none,
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

    return _load_model(_keras, wrap, filepath, custom_optimizers, custom_objects)
