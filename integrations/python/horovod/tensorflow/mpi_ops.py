"""All collectives and the facts of a job, in the place where Horovod has them."""

from horovod.common.process_sets import (
    ProcessSet,
    add_process_set,
    global_process_set,
    remove_process_set,
)
from horovod.tensorflow._basics import (
    Adasum,
    Average,
    Max,
    Min,
    Product,
    Sum,
    _basics,
    ccl_built,
    check_num_rank_power_of_2,
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
from horovod.tensorflow._broadcast_variables import broadcast_
from horovod.tensorflow._facts import (
    local_rank_op,
    local_size_op,
    process_set_included_op,
    rank_op,
    size_op,
)
from horovod.tensorflow._gradients import (
    _allgather_grad,
    _allreduce_grad,
    _alltoall_grad,
    _broadcast_grad,
    _reducescatter_grad,
)
from horovod.tensorflow._library import operations as MPI_LIB
from horovod.tensorflow._raw_ops import (
    _allreduce,
    _grouped_allreduce,
    _grouped_reducescatter,
    _normalize_name,
    _reducescatter,
    allgather,
    alltoall,
    broadcast,
    grouped_allgather,
    join,
)
