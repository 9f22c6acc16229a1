"""The engine of this process, as the torch binding sees it."""

import math
from typing import Any

from horovod.common.basics import HorovodBasics
from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.common.util import get_average_backwards_compatibility_fun, num_rank_is_power_2
from horovod.torch import _flushing, _handles

_basics = HorovodBasics(__file__, "mpi_lib_v2")

is_initialized = _basics.is_initialized
start_timeline = _basics.start_timeline
stop_timeline = _basics.stop_timeline
size = _basics.size
local_size = _basics.local_size
cross_size = _basics.cross_size
rank = _basics.rank
local_rank = _basics.local_rank
cross_rank = _basics.cross_rank
is_homogeneous = _basics.is_homogeneous
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
Min = _basics.Min
Max = _basics.Max
Product = _basics.Product

handle_average_backwards_compatibility = get_average_backwards_compatibility_fun(_basics)


def init(*args: Any, **kwargs: Any) -> None:
    """Starts the engine: see HorovodBasics.init. Handles of an earlier life are forgotten."""
    if not is_initialized():
        _handles.forget_all()
    _basics.init(*args, **kwargs)


def shutdown(*args: Any, **kwargs: Any) -> None:
    """Stops the engines of all ranks; pending handles are forgotten."""
    _flushing.flush_before_the_end()
    _basics.shutdown(*args, **kwargs)
    _handles.forget_all()  # not before: until here the engine writes to their tensors


def set_id(process_set: ProcessSet) -> int:
    """The engine's number for a set; -1, which the engine refuses, if it is not registered."""
    number = process_set.process_set_id
    return -1 if number is None else number


def check_adasum(process_set: ProcessSet) -> None:
    """Adasum works on all ranks, and on a power of two of them."""
    if process_set is not global_process_set:
        raise NotImplementedError("Adasum does not support non-global process sets yet.")
    if not num_rank_is_power_2(size()):
        raise NotImplementedError(
            f"Running Adasum with non-power of 2 ranks is not supported yet; there are {size()}, "
            f"try {2 ** int(math.log2(size()))}."
        )
