"""Every name and signature of Horovod's PyTorch API, as the specification has them."""

import importlib
import inspect
import subprocess
import sys
from typing import Any

import pytest

PS = "global_process_set"
C0 = "Compression.none"
REDUCE = f"op=None, prescale_factor=1.0, postscale_factor=1.0, process_set={PS}"
ALLREDUCE = f"average=None, name=None, {REDUCE}"
COMPRESSED = f"average=None, name=None, compression={C0}, {REDUCE}"
GATHER = f"name=None, process_set={PS}"
SPLITS = f"tensor, splits=None, name=None, process_set={PS}"
ROOT = f"tensor, root_rank, name=None, process_set={PS}"
SCATTER = f"op=Average, process_set={PS}, prescale_factor=1.0, postscale_factor=1.0"

COLLECTIVES = {
    "allreduce": f"tensor, {COMPRESSED}",
    "allreduce_async": f"tensor, {ALLREDUCE}",
    "allreduce_": f"tensor, {ALLREDUCE}",
    "allreduce_async_": f"tensor, {ALLREDUCE}",
    "grouped_allreduce": f"tensors, {COMPRESSED}",
    "grouped_allreduce_async": f"tensors, {ALLREDUCE}",
    "grouped_allreduce_": f"tensors, {ALLREDUCE}",
    "grouped_allreduce_async_": f"tensors, {ALLREDUCE}",
    "sparse_allreduce_async": f"tensor, name, op, process_set={PS}",
    "allgather": f"tensor, {GATHER}",
    "allgather_async": f"tensor, {GATHER}",
    "grouped_allgather": f"tensors, {GATHER}",
    "grouped_allgather_async": f"tensors, {GATHER}",
    "broadcast": ROOT,
    "broadcast_async": ROOT,
    "broadcast_": ROOT,
    "broadcast_async_": ROOT,
    "alltoall": SPLITS,
    "alltoall_async": SPLITS,
    "reducescatter": f"tensor, name=None, compression={C0}, {SCATTER}",
    "reducescatter_async": f"tensor, name=None, {SCATTER}",
    "grouped_reducescatter": f"tensors, name=None, compression={C0}, {SCATTER}",
    "grouped_reducescatter_async": f"tensors, name=None, {SCATTER}",
    "join": "device=-1",
    "barrier": f"process_set={PS}",
    "poll": "handle",
    "synchronize": "handle",
}
BASICS = {
    "shutdown": "",
    "is_initialized": "",
    "start_timeline": "file_path, mark_cycles=False",
    "stop_timeline": "",
    **dict.fromkeys(["size", "local_size", "cross_size", "rank", "local_rank", "cross_rank"], ""),
    **dict.fromkeys(["mpi_threads_supported", "mpi_enabled", "mpi_built", "gloo_enabled"], ""),
    **dict.fromkeys(["gloo_built", "nccl_built", "ddl_built", "ccl_built"], ""),
    **dict.fromkeys(["cuda_built", "rocm_built"], ""),
}
WRAPPED = {**BASICS, "init": "*args, **kwargs", "shutdown": "*args, **kwargs"}
PROCESS_SETS = {"ProcessSet": "ranks_or_comm"}
FUNCTIONS = {
    "broadcast_parameters": "params, root_rank",
    "broadcast_optimizer_state": "optimizer, root_rank, model=None",
    "broadcast_object": f"obj, root_rank=0, name=None, process_set={PS}",
    "allgather_object": "obj, name=None",
}
OPTIMIZER = {
    "DistributedOptimizer": "optimizer, named_parameters=None, compression=Compression.none, "
    "backward_passes_per_step=1, op=Average, gradient_predivide_factor=1.0, num_groups=0, "
    f"groups=None, sparse_as_dense=False, process_set={PS}, "
    "*, split_allreduce=None"  # this one is ours
}
BATCH_NORM = {
    "SyncBatchNorm": "num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True"
}
STATE = ["on_reset", "commit", "check_host_updates", "save", "restore", "sync", "reset"]
ELASTIC = {
    "TorchState": "model=None, optimizer=None, **kwargs",
    "ElasticSampler": "dataset, shuffle=True, seed=0",
}
SIGNATURES = {
    "horovod.torch": {
        **COLLECTIVES,
        **WRAPPED,
        **PROCESS_SETS,
        **FUNCTIONS,
        **OPTIMIZER,
        **BATCH_NORM,
        "_check_has_gpu": "",
    },
    "horovod.torch.mpi_ops": {
        **COLLECTIVES,
        **WRAPPED,
        **PROCESS_SETS,
        "is_homogeneous": "",
        "handle_average_backwards_compatibility": "op, average",
    },
    "horovod.torch.functions": FUNCTIONS,
    "horovod.torch.optimizer": OPTIMIZER,
    "horovod.torch.sync_batch_norm": BATCH_NORM,
    "horovod.common.process_sets": {
        **PROCESS_SETS,
        "ProcessSet.size": "self",
        "ProcessSet.rank": "self",
        "ProcessSet.included": "self",
        "_setup": "basics",
    },
    "horovod.common.exceptions": {
        "HostsUpdatedInterrupt": "skip_sync",
        "HorovodVersionMismatchError": "name, version, installed_version",
        "get_version_mismatch_message": "name, version, installed_version",
    },
    "horovod.common.util": {
        "extension_available": "ext_base_name, verbose=False",
        "gpu_available": "ext_base_name, verbose=False",
        **dict.fromkeys(["mpi_built", "gloo_built", "nccl_built"], "verbose=False"),
        **dict.fromkeys(["ddl_built", "ccl_built"], "verbose=False"),
        "check_extension": "ext_name, ext_env_var, pkg_path, *args",
        "get_ext_suffix": "",
        "get_extension_full_path": "pkg_path, *args",
        "check_installed_version": "name, version, exception=None",
        "env": "**kwargs",
        "get_average_backwards_compatibility_fun": "reduce_ops",
        "split_list": "l, n",
        "is_iterable": "x",
        "is_version_greater_equal_than": "ver, target",
    },
    "horovod.common.elastic": {
        "State": "bcast_object, get_rank",
        "State.register_reset_callbacks": "self, callbacks",
        "State.on_hosts_updated": "self, timestamp, update_res",
        **{f"State.{name}": "self" for name in STATE},
        "ObjectState": "bcast_object, get_rank, **kwargs",
        "run_fn": "func, reset",
    },
    "horovod.runner.elastic.worker": {
        "WorkerNotificationManager": "",
        "WorkerNotificationManager.init": "self, rendezvous_addr=None, rendezvous_port=None, "
        "nic=None, hostname=None, local_rank=None",
        "WorkerNotificationManager.register_listener": "self, listener",
        "WorkerNotificationManager.remove_listener": "self, listener",
        "WorkerNotificationManager.handle_hosts_updated": "self, timestamp, update_res",
    },
    "horovod.torch.elastic": {**ELASTIC, "run": "func"},
    "horovod.torch.elastic.sampler": {
        "ElasticSampler": ELASTIC["ElasticSampler"],
        **{f"ElasticSampler.{name}": "self" for name in ("reset", "state_dict")},
        "ElasticSampler.record_batch": "self, batch_idx, batch_size",
        "ElasticSampler.set_epoch": "self, epoch",
    },
    "horovod.torch.elastic.state": {
        "TorchState": ELASTIC["TorchState"],
        "StateHandler": "value",
        "StateHandler.set_value": "self, value",
        **{f"StateHandler.{name}": "self" for name in ("save", "restore", "sync")},
        "get_handler_registry": "",
        "set_handler_registry": "registry",
    },
    "horovod.common.basics": {
        "HorovodBasics": "pkg_path, *args",
        "HorovodBasics.init": "self, comm=None, process_sets=None",
        "HorovodBasics.is_homogeneous": "self",
        "HorovodBasics._add_process_set_impl": "self, ranks",
        "HorovodBasics._get_process_set_ids_and_ranks": "self",
        "HorovodBasics._comm_process_set_id": "self, comm",
        **{
            f"HorovodBasics.{name}": ", ".join(["self"] + [p for p in [parameters] if p])
            for name, parameters in BASICS.items()
        },
    },
}
OPERATORS = {"Average": 0, "Sum": 1, "Adasum": 2, "Min": 3, "Max": 4, "Product": 5}
ATTRIBUTES = {
    "horovod": ["run", "__version__"],
    "horovod.torch": ["Compression", "global_process_set", "HorovodInternalError", *OPERATORS],
    "horovod.torch.mpi_ops": [
        *("HorovodAllreduce", "HorovodGroupedAllreduce", "HorovodAllgather"),
        *("HorovodGroupedAllgather", "HorovodBroadcast", "HorovodAlltoall"),
        *("HorovodReducescatter", "HorovodGroupedReducescatter"),
        *("_basics", "_handle_map", "global_process_set", "HorovodInternalError", "Compression"),
        *("mpi_lib", *OPERATORS),
    ],
    "horovod.torch.compression": ["Compressor", "NoneCompressor", "FP16Compressor", "Compression"],
    "horovod.common.process_sets": ["global_process_set"],
    "horovod.common.util": ["EXTENSIONS", "_cache"],
    "horovod.common.exceptions": ["HorovodInternalError"],
    "horovod.common.elastic": ["notification_manager"],
    "horovod.runner.elastic.worker": [
        *("WorkerNotificationService", "WorkerNotificationClient", "HostsUpdatedRequest"),
    ],
}
# One parameter (after self), whose name the specification leaves open.
TAKES_ONE = {
    "horovod.torch": ["add_process_set", "remove_process_set"],
    "horovod.torch.mpi_ops": ["add_process_set", "remove_process_set"],
    "horovod.common.process_sets": [
        *("add_process_set", "remove_process_set"),
        *("_init_process_sets", "_temp_process_set_object"),
    ],
    "horovod.common.basics": [
        "HorovodBasics._remove_process_set_impl",
        "HorovodBasics._process_set_rank",
        "HorovodBasics._process_set_size",
    ],
    "horovod.common.util": ["num_rank_is_power_2"],
    "horovod.torch.elastic.sampler": ["ElasticSampler.load_state_dict"],
    "horovod.torch.elastic.state": [
        *("ModelStateHandler", "OptimizerStateHandler", "SamplerStateHandler"),
    ],
}
SUBMODULES = {"mpi_ops", "compression", "functions", "optimizer", "sync_batch_norm", "elastic"}
SUBMODULES |= {"elastic.state", "elastic.sampler"}


def find(module: str, path: str) -> Any:
    found = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def written(parameter: inspect.Parameter) -> str:
    """A parameter as the tables above write it."""
    import horovod.torch as hvd

    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    text = stars.get(parameter.kind, "") + parameter.name
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        text = "*, " + text
    default = parameter.default
    if default is inspect.Parameter.empty:
        return text
    if default is hvd.global_process_set:
        return f"{text}={PS}"
    if default is hvd.Compression.none:
        return f"{text}={C0}"
    if parameter.name == "op" and default == hvd.Average and default is not None:
        return f"{text}=Average"
    return f"{text}={default!r}"


@pytest.mark.parametrize(
    ("module", "path"), [(module, path) for module in SIGNATURES for path in SIGNATURES[module]]
)
def test_signature(module: str, path: str) -> None:
    signature = inspect.signature(find(module, path))
    found = ", ".join(written(parameter) for parameter in signature.parameters.values())
    assert found == SIGNATURES[module][path]


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module in ATTRIBUTES for name in ATTRIBUTES[module]]
)
def test_attribute(module: str, name: str) -> None:
    assert find(module, name) is not None


@pytest.mark.parametrize(
    ("module", "path"), [(module, path) for module in TAKES_ONE for path in TAKES_ONE[module]]
)
def test_takes_one(module: str, path: str) -> None:
    parameters = [
        name for name in inspect.signature(find(module, path)).parameters if name != "self"
    ]
    assert len(parameters) == 1


@pytest.mark.parametrize("module", ["horovod.torch", "horovod.torch.mpi_ops"])
def test_values_of_operators(module: str) -> None:
    for name, value in OPERATORS.items():
        assert find(module, name) == value and type(find(module, name)) is int


def test_modules_hold_the_same_things() -> None:
    import horovod.torch as hvd

    for module, signatures in SIGNATURES.items():
        names = [*signatures, *TAKES_ONE.get(module, [])]
        if module.startswith("horovod.torch.") or module == "horovod.common.process_sets":
            for name in set(names) & {*SIGNATURES["horovod.torch"], *TAKES_ONE["horovod.torch"]}:
                assert find(module, name) is getattr(hvd, name), f"{module}.{name}"
    for submodule in SUBMODULES:
        assert importlib.import_module(f"horovod.torch.{submodule}")


def test_errors_are_what_scripts_catch() -> None:
    from horovod.common import exceptions

    assert issubclass(exceptions.HorovodInternalError, RuntimeError)
    assert find("horovod.torch", "HorovodInternalError") is exceptions.HorovodInternalError
    interrupt = exceptions.HostsUpdatedInterrupt(True)
    assert isinstance(interrupt, RuntimeError) and interrupt.skip_sync is True
    mismatch = exceptions.HorovodVersionMismatchError("torch", "2.0", "1.0")
    assert isinstance(mismatch, ImportError)
    assert (mismatch.name, mismatch.version, mismatch.installed_version) == ("torch", "2.0", "1.0")
    text = exceptions.get_version_mismatch_message("torch", "2.0", "1.0")
    assert all(part in text for part in ("torch", "2.0", "1.0"))
    assert str(mismatch) == text


def test_kinds_of_host_updates() -> None:
    kinds = find("horovod.runner.elastic.worker", "HostUpdateResult")
    values = [kinds.no_update, kinds.removed, kinds.added, kinds.mixed]
    assert values == [0, 1, 2, 3] and kinds.removed | kinds.added == kinds.mixed
    assert find("horovod.torch", "elastic") is importlib.import_module("horovod.torch.elastic")


def test_numbers_of_process_set_errors() -> None:
    from horovod.torch.mpi_ops import _basics

    numbers = {"INIT": -1, "DYNAMIC": -2, "UNKNOWN_SET": -3}
    numbers.update({"FOREIGN_SET": -4, "SHUTDOWN": -5, "EXISTING_SET": -6})
    for name, number in numbers.items():
        assert getattr(_basics, f"HOROVOD_PROCESS_SET_ERROR_{name}") == number
    assert [getattr(_basics, name) for name in OPERATORS] == list(OPERATORS.values())
    assert _basics.MPI_LIB_CTYPES.horovod_reduce_op_sum() == 1


def test_the_package_has_two_names_and_its_version() -> None:
    import horovod

    assert horovod.__version__ == "0.28.1"
    assert callable(horovod.run)
    assert find("horovod.torch", "_MPI_LIB_AVAILABLE") is True
    assert find("horovod.torch", "_check_has_gpu")() in (True, False)


def test_importing_horovod_imports_no_framework() -> None:
    frameworks = ["torch", "tensorflow", "keras", "mxnet", "jax", "numpy"]
    code = f"import sys, horovod; print([m for m in {frameworks} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["none", "fp16"])
def test_compressors_have_static_methods(name: str) -> None:
    import torch

    compressor = getattr(find("horovod.torch", "Compression"), name)
    assert issubclass(compressor, find("horovod.torch.compression", "Compressor"))
    whole = torch.arange(3)
    assert compressor.compress(whole)[0] is whole
    tensor = torch.tensor([1.5, 2.5], dtype=torch.float64)
    small, ctx = compressor.compress(tensor)
    assert small.dtype == (torch.float16 if name == "fp16" else torch.float64)
    assert ctx == (torch.float64 if name == "fp16" else None)
    assert compressor.decompress(small, ctx).dtype == torch.float64
