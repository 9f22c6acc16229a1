"""Every tuning option once: its name, its key in the config file, its variable, its limits.

Parser (arguments.py), config file (config_parser.py) and workers' environment all read this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

LOG_LEVELS = ["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"]


def _plain(value: Any) -> str:
    return str(value)


def _flag(value: Any) -> str:
    return "1" if value else "0"


def _inverse_flag(value: Any) -> str:
    return _flag(not value)


def _mebibytes(value: Any) -> str:
    return str(int(value) * 1024 * 1024)


def _negated(value: Any) -> Any:
    return not value


def _as_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Knob:
    """One option. `dest` is its name among the parsed arguments; `section` and `key` are its place
    in the config file."""

    dest: str
    variable: str
    section: str
    key: str
    text: Callable[[Any], str] = _plain  # of its value in the environment
    least: float | None = 0
    most: float | None = None
    choices: tuple[str, ...] = ()
    from_config: Callable[[Any], Any] = _as_is
    only_with: str | None = None  # exported only if this other one is set


def _on_off(dest: str, variable: str, section: str, key: str, **more: Any) -> Knob:
    return Knob(dest, variable, section, key, **{"text": _flag, "least": None, **more})


def _text(dest: str, variable: str, section: str, key: str, **more: Any) -> Knob:
    return Knob(dest, variable, section, key, least=None, **more)


_PARAMS = (
    Knob(
        "fusion_threshold_mb",
        "HOROVOD_FUSION_THRESHOLD",
        "params",
        "fusion_threshold_mb",
        text=_mebibytes,
    ),
    Knob("cycle_time_ms", "HOROVOD_CYCLE_TIME", "params", "cycle_time_ms"),
    Knob("cache_capacity", "HOROVOD_CACHE_CAPACITY", "params", "cache_capacity"),
    _on_off(
        "hierarchical_allreduce",
        "HOROVOD_HIERARCHICAL_ALLREDUCE",
        "params",
        "hierarchical_allreduce",
    ),
    _on_off(
        "hierarchical_allgather",
        "HOROVOD_HIERARCHICAL_ALLGATHER",
        "params",
        "hierarchical_allgather",
    ),
    _on_off("torus_allreduce", "HOROVOD_TORUS_ALLREDUCE", "params", "torus_allreduce"),
)


def _tuning(key: str, variable: str, **more: Any) -> Knob:
    dest = "autotune_" + key
    return Knob(dest, "HOROVOD_AUTOTUNE_" + variable, "autotune", key, only_with="autotune", **more)


_AUTOTUNE = (
    _on_off("autotune", "HOROVOD_AUTOTUNE", "autotune", "enabled", only_with="autotune"),
    _tuning("log_file", "LOG", least=None),
    _tuning("warmup_samples", "WARMUP_SAMPLES"),
    _tuning("steps_per_sample", "STEPS_PER_SAMPLE"),
    _tuning("bayes_opt_max_samples", "BAYES_OPT_MAX_SAMPLES"),
    _tuning("gaussian_process_noise", "GAUSSIAN_PROCESS_NOISE", most=1),
)

_TIMELINE = (
    _text("timeline_filename", "HOROVOD_TIMELINE", "timeline", "filename"),
    _on_off(
        "timeline_mark_cycles",
        "HOROVOD_TIMELINE_MARK_CYCLES",
        "timeline",
        "mark_cycles",
        only_with="timeline_filename",
    ),
)

_STALL_CHECK = (
    _on_off(
        "no_stall_check",
        "HOROVOD_STALL_CHECK_DISABLE",
        "stall_check",
        "enabled",
        from_config=_negated,
    ),
    Knob(
        "stall_check_warning_time_seconds",
        "HOROVOD_STALL_CHECK_TIME_SECONDS",
        "stall_check",
        "warning_time_seconds",
    ),
    Knob(
        "stall_check_shutdown_time_seconds",
        "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
        "stall_check",
        "shutdown_time_seconds",
    ),
)


def _library(key: str, **more: Any) -> Knob:
    return Knob(key, "HOROVOD_" + key.upper(), "library_options", key, **more)


_LIBRARY = (
    _library("mpi_threads_disable", text=_flag, least=None),
    _library("num_nccl_streams"),
    _library("thread_affinity"),
    _library("gloo_timeout_seconds"),
)

_LOGGING = (
    _text("log_level", "HOROVOD_LOG_LEVEL", "logging", "level", choices=tuple(LOG_LEVELS)),
    _on_off(
        "log_with_timestamp",
        "HOROVOD_LOG_HIDE_TIME",
        "logging",
        "with_timestamp",
        text=_inverse_flag,
    ),
)

KNOBS: tuple[Knob, ...] = (
    *_PARAMS,
    *_AUTOTUNE,
    *_TIMELINE,
    *_STALL_CHECK,
    *_LIBRARY,
    *_LOGGING,
)
