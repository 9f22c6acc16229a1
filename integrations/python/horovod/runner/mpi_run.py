"""Launching by mpirun: not in this build. The names stay, so that importing them works."""

from __future__ import annotations

from typing import Any, Mapping, NoReturn

_MISSING = (
    "MPI support has not been built: this Horovod starts processes itself (horovodrun --gloo). "
    "HOROVOD_WITH_MPI=1 has no effect here."
)


def mpi_available(env: Mapping[str, str] | None = None) -> bool:
    """Whether jobs can be launched by mpirun."""
    return False


def is_open_mpi(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is Open MPI's."""
    return False


def is_spectrum_mpi(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is Spectrum MPI's."""
    return False


def is_mpich(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is MPICH's."""
    return False


def is_intel_mpi(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is Intel MPI's."""
    return False


def mpi_run(
    settings: Any,
    nics: Any,
    env: Mapping[str, str],
    command: Any,
    stdout: Any = None,
    stderr: Any = None,
) -> NoReturn:
    """Would run a job by mpirun."""
    raise ValueError(_MISSING)
