"""Every name that scripts may import, with Horovod's parameters in Horovod's order."""

import inspect
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

BASICS = (
    "init shutdown is_initialized start_timeline stop_timeline size local_size cross_size rank "
    "local_rank cross_rank mpi_threads_supported mpi_enabled mpi_built gloo_enabled gloo_built "
    "nccl_built ddl_built ccl_built cuda_built rocm_built"
).split()
TENSORFLOW = (
    "Compression allgather_object broadcast_object broadcast_object_fn broadcast_variables "
    "allgather grouped_allgather broadcast broadcast_ alltoall allreduce grouped_allreduce "
    "reducescatter grouped_reducescatter join is_homogeneous rank_op local_rank_op size_op "
    "local_size_op process_set_included_op ProcessSet global_process_set add_process_set "
    "remove_process_set Average Sum Adasum Min Max Product handle_average_backwards_compatibility "
    "check_num_rank_power_of_2 SyncBatchNormalization LocalGradientAggregationHelper "
    "broadcast_global_variables BroadcastGlobalVariablesHook DistributedOptimizer "
    "DistributedGradientTape PartialDistributedGradientTape _allreduce _grouped_allreduce "
    "_reducescatter _grouped_reducescatter _executing_eagerly _make_subgraph _cache vars_to_refs "
    "refs_to_vars _make_allreduce_grads_fn mpi_ops util elastic"
).split()
KERAS = (
    "Compression callbacks elastic DistributedOptimizer broadcast_global_variables allreduce "
    "allgather broadcast reducescatter load_model Average Sum global_process_set"
).split()
CALLBACKS = (
    "BroadcastGlobalVariablesCallback MetricAverageCallback LearningRateScheduleCallback "
    "LearningRateWarmupCallback BestModelCheckpoint"
).split()
PARAMETERS = {
    "allreduce": "tensor average device_dense device_sparse compression op prescale_factor "
    "postscale_factor name process_set ignore_name_scope",
    "grouped_allreduce": "tensors average device_dense device_sparse compression op "
    "prescale_factor postscale_factor process_set ignore_name_scope name",
    "allgather": "tensor name ignore_name_scope process_set",
    "grouped_allgather": "tensors name ignore_name_scope process_set",
    "broadcast": "tensor root_rank name ignore_name_scope process_set",
    "broadcast_": "variables root_rank name process_set",
    "alltoall": "tensor splits name ignore_name_scope process_set",
    "reducescatter": "tensor device_dense compression op name process_set ignore_name_scope "
    "prescale_factor postscale_factor",
    "grouped_reducescatter": "tensors device_dense compression op process_set prescale_factor "
    "postscale_factor",
    "size_op": "process_set_id name",
    "process_set_included_op": "process_set_id name",
    "_allreduce": "tensor name op prescale_factor postscale_factor ignore_name_scope process_set",
    "_reducescatter": "tensor name op ignore_name_scope process_set prescale_factor "
    "postscale_factor",
    "broadcast_variables": "variables root_rank process_set inplace",
    "broadcast_object": "obj root_rank session name process_set",
    "broadcast_object_fn": "root_rank session name process_set",
    "allgather_object": "obj session name process_set",
    "DistributedOptimizer": "optimizer name use_locking device_dense device_sparse compression "
    "sparse_as_dense backward_passes_per_step op gradient_predivide_factor "
    "average_aggregated_gradients num_groups groups process_set scale_local_gradients",
    "DistributedGradientTape": "gradtape device_dense device_sparse compression sparse_as_dense op "
    "gradient_predivide_factor num_groups groups process_set scale_local_gradients",
    "PartialDistributedGradientTape": "gradtape device_dense device_sparse compression "
    "sparse_as_dense op gradient_predivide_factor num_groups groups process_set local_layers "
    "scale_local_gradients",
}
KERAS_PARAMETERS = {
    "horovod.tensorflow.keras": "optimizer name device_dense device_sparse compression "
    "sparse_as_dense gradient_predivide_factor op backward_passes_per_step "
    "average_aggregated_gradients num_groups groups process_set scale_local_gradients",
    "horovod.keras": "optimizer name device_dense device_sparse compression sparse_as_dense "
    "gradient_predivide_factor op num_groups groups",
}
KERAS_ELASTIC = {
    "KerasState": "(model, optimizer=None, **kwargs)",
    "CommitStateCallback": "(state, batches_per_commit=1)",
    "UpdateBatchStateCallback": "(state)",
    "UpdateEpochStateCallback": "(state)",
    "run": "(func)",
}
TENSORFLOW_ELASTIC = {
    "TensorFlowKerasState": "(model, optimizer=None, backend=None, **kwargs)",
    "TensorFlowState": "(variables=None, session=None, **kwargs)",
    "run": "(func)",
}


def _parameters(function: Any) -> "list[str]":
    return list(inspect.signature(function).parameters)


def _plain(function: Any) -> str:
    """Its parameters with their defaults, without types."""
    signature = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def test_tensorflow() -> None:
    import horovod.tensorflow as hvd

    for name in BASICS + TENSORFLOW:
        assert hasattr(hvd, name), name
    for name in ("barrier", "poll", "synchronize"):
        assert not hasattr(hvd, name), name
    for name, parameters in PARAMETERS.items():
        assert _parameters(getattr(hvd, name)) == parameters.split(), name
    for name in ("_allreduce", "allgather", "broadcast", "rank", "size", "_alltoall_grad"):
        assert hasattr(hvd.mpi_ops, name), name
    for name, signature in TENSORFLOW_ELASTIC.items():
        assert _plain(getattr(hvd.elastic, name)) == signature, name
    assert (hvd.Average, hvd.Sum, hvd.Adasum, hvd.Min, hvd.Max, hvd.Product) == (0, 1, 2, 3, 4, 5)


def test_keras() -> None:
    import horovod.keras
    import horovod.tensorflow.keras

    for package in (horovod.keras, horovod.tensorflow.keras):
        for name in BASICS + KERAS:
            assert hasattr(package, name), name
        for name in CALLBACKS:
            assert hasattr(package.callbacks, name), name
        for name, signature in KERAS_ELASTIC.items():
            assert _plain(getattr(package.elastic, name)) == signature, name
        parameters = KERAS_PARAMETERS[package.__name__].split()
        assert _parameters(package.DistributedOptimizer) == parameters
    assert hasattr(horovod.keras, "Adasum")
    assert hasattr(horovod.keras, "PartialDistributedOptimizer")


def test_data() -> None:
    from horovod.runner.common.service.compute_service import ComputeClient, ComputeService
    from horovod.tensorflow.data import compute_service, compute_worker

    assert _parameters(ComputeService) == ["dispatchers", "workers_per_dispatcher", "key", "nics"]
    assert _parameters(ComputeClient) == ["compute_addresses", "key", "verbose"]
    config = compute_service.TfDataServiceConfig
    fields = "dispatchers workers_per_dispatcher dispatcher_side addresses key timeout"
    assert _parameters(config) == fields.split()
    made = config(1, 2, "compute", {"lo": [("127.0.0.1", 1)]}, b"k")
    assert made.timeout == 60 and made.to_dict()["key"] == "6b"
    assert _parameters(compute_service.tf_data_service) == ["compute_config", "rank"]
    send = "dataset compute_config rank size processing_mode reuse_dataset round_robin"
    assert _parameters(compute_service.send_to_data_service) == send.split()
    assert _parameters(compute_service.compute_worker_fn) == ["compute_config"]
    worker = ["dispatchers", "dispatcher_side", "configfile", "timeout"]
    assert _parameters(compute_worker.main) == worker
