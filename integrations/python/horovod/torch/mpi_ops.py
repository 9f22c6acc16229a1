"""All collectives and the facts of a job, in the place where Horovod has them."""
# ruff: noqa: F401  (names to be imported from here)

from horovod.common.exceptions import HorovodInternalError
from horovod.common.process_sets import (
    ProcessSet,
    add_process_set,
    global_process_set,
    remove_process_set,
)
from horovod.torch import mpi_lib_v2 as mpi_lib
from horovod.torch._allreduce import (
    allreduce_,
    allreduce_async,
    allreduce_async_,
    grouped_allreduce_,
    grouped_allreduce_async,
    grouped_allreduce_async_,
    sparse_allreduce_async,
)
from horovod.torch._autograd import (
    HorovodAllgather,
    HorovodAllreduce,
    HorovodAlltoall,
    HorovodBroadcast,
    HorovodGroupedAllgather,
    HorovodGroupedAllreduce,
    HorovodGroupedReducescatter,
    HorovodReducescatter,
)
from horovod.torch._basics import (
    Adasum,
    Average,
    Max,
    Min,
    Product,
    Sum,
    _basics,
    ccl_built,
    cross_rank,
    cross_size,
    cuda_built,
    ddl_built,
    gloo_built,
    gloo_enabled,
    handle_average_backwards_compatibility,
    init,
    is_homogeneous,
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
from horovod.torch._broadcast import broadcast_, broadcast_async, broadcast_async_
from horovod.torch._differentiable import (
    allgather,
    allreduce,
    alltoall,
    broadcast,
    grouped_allgather,
    grouped_allreduce,
    grouped_reducescatter,
    reducescatter,
)
from horovod.torch._gather import allgather_async, alltoall_async, grouped_allgather_async
from horovod.torch._handles import _handle_map, poll, synchronize
from horovod.torch._join_barrier import barrier, join
from horovod.torch._reducescatter import grouped_reducescatter_async, reducescatter_async
from horovod.torch.compression import Compression

__all__ = [name for name in dir() if not name.startswith("__")]
