"""The config file, and the environment that options turn into."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, MutableMapping

from horovod.runner.common.util.knobs import KNOBS, LOG_LEVELS, Knob

HOROVOD_FUSION_THRESHOLD = "HOROVOD_FUSION_THRESHOLD"
HOROVOD_CYCLE_TIME = "HOROVOD_CYCLE_TIME"
HOROVOD_CACHE_CAPACITY = "HOROVOD_CACHE_CAPACITY"
HOROVOD_HIERARCHICAL_ALLREDUCE = "HOROVOD_HIERARCHICAL_ALLREDUCE"
HOROVOD_HIERARCHICAL_ALLGATHER = "HOROVOD_HIERARCHICAL_ALLGATHER"
HOROVOD_TORUS_ALLREDUCE = "HOROVOD_TORUS_ALLREDUCE"
HOROVOD_AUTOTUNE = "HOROVOD_AUTOTUNE"
HOROVOD_AUTOTUNE_LOG = "HOROVOD_AUTOTUNE_LOG"
HOROVOD_AUTOTUNE_WARMUP_SAMPLES = "HOROVOD_AUTOTUNE_WARMUP_SAMPLES"
HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE = "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE"
HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES = "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES"
HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE = "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE"
HOROVOD_TIMELINE = "HOROVOD_TIMELINE"
HOROVOD_TIMELINE_MARK_CYCLES = "HOROVOD_TIMELINE_MARK_CYCLES"
HOROVOD_STALL_CHECK_DISABLE = "HOROVOD_STALL_CHECK_DISABLE"
HOROVOD_STALL_CHECK_TIME_SECONDS = "HOROVOD_STALL_CHECK_TIME_SECONDS"
HOROVOD_STALL_SHUTDOWN_TIME_SECONDS = "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"
HOROVOD_MPI_THREADS_DISABLE = "HOROVOD_MPI_THREADS_DISABLE"
HOROVOD_NUM_NCCL_STREAMS = "HOROVOD_NUM_NCCL_STREAMS"
HOROVOD_THREAD_AFFINITY = "HOROVOD_THREAD_AFFINITY"
HOROVOD_GLOO_TIMEOUT_SECONDS = "HOROVOD_GLOO_TIMEOUT_SECONDS"
HOROVOD_LOG_LEVEL = "HOROVOD_LOG_LEVEL"
HOROVOD_LOG_HIDE_TIME = "HOROVOD_LOG_HIDE_TIME"
NCCL_IB_DISABLE = "NCCL_IB_DISABLE"

_CONTROLLERS = ("gloo", "mpi")

__all__ = [
    "LOG_LEVELS",
    "explicit_args",
    "read_config",
    "set_args_from_config",
    "set_env_from_args",
    "validate_config_args",
    *(knob.variable for knob in KNOBS),
]


def explicit_args(args: Any) -> set[str]:
    """The options that a user gave: those that are not None."""
    return {knob.dest for knob in KNOBS if getattr(args, knob.dest, None) is not None}


def read_config(path: str) -> dict[str, Any]:
    """The mapping in a YAML file."""
    import yaml

    try:
        with open(path, encoding="utf-8") as file:
            config = yaml.safe_load(file)
    except yaml.YAMLError as error:
        raise ValueError(f"config file {path} is not YAML: {error}") from error
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise ValueError(f"config file {path} must be a mapping, not {type(config).__name__}")
    return config


def set_args_from_config(
    args: Any, config: Mapping[str, Any], override_args: Iterable[str]
) -> None:
    """Fills in what the file says; options in `override_args` stay as they are."""
    _set_controller(args, config.get("controller"))
    for knob in KNOBS:
        section = config.get(knob.section)
        if section is None or knob.dest in override_args:
            continue
        if not isinstance(section, Mapping):
            raise ValueError(f"config file: {knob.section} must be a mapping, not {section!r}")
        value = section.get(knob.key)
        if value is not None:
            setattr(args, knob.dest, knob.from_config(value))


def _set_controller(args: Any, controller: Any) -> None:
    if controller is None or getattr(args, "use_gloo", None) or getattr(args, "use_mpi", None):
        return
    name = str(controller).lower()
    if name not in _CONTROLLERS:
        raise ValueError(f"config file: controller must be gloo or mpi, not {controller!r}")
    setattr(args, "use_" + name, True)


def validate_config_args(args: Any) -> None:
    """Raises ValueError for a value outside of its limits."""
    for knob in KNOBS:
        value = getattr(args, knob.dest, None)
        if value is not None:
            _validate(knob, value)


def _validate(knob: Knob, value: Any) -> None:
    if knob.choices and value not in knob.choices:
        raise ValueError(f"{knob.dest}={value!r} must be one of {', '.join(knob.choices)}")
    if knob.least is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{knob.dest}={value!r} must be a number")
    if not value >= knob.least:
        raise ValueError(f"{knob.dest}={value} must be >= {knob.least:g}")
    if knob.most is not None and not value <= knob.most:
        raise ValueError(f"{knob.dest}={value} must be in [{knob.least:g}, {knob.most:g}]")


def set_env_from_args(env: MutableMapping[str, str], args: Any) -> MutableMapping[str, str]:
    """Adds the variables of all options that are set, and leaves the others as they are."""
    for knob in KNOBS:
        value = getattr(args, knob.dest, None)
        if value is None:
            continue
        if knob.only_with and not getattr(args, knob.only_with, None):
            if knob.only_with == knob.dest and knob.variable in env:
                env[knob.variable] = knob.text(value)  # off, whatever was inherited
            continue
        env[knob.variable] = knob.text(value)
    if getattr(args, "tcp_flag", None):
        env[NCCL_IB_DISABLE] = "1"
    return env
