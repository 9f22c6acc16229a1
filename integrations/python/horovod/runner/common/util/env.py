"""Environment variables: which ones travel, and what they say about this process."""

from __future__ import annotations

import os
import re

LOG_LEVEL_STR = ["FATAL", "ERROR", "WARNING", "INFO", "DEBUG", "TRACE"]

_STAYS_HERE = re.compile(
    r"BASH_FUNC_.*|OLDPWD|.*CUDA_VISIBLE_DEVICES|_HOROVOD_SECRET_KEY|HOROVODX_SECRET"
)
# Launchers that tell ranks, the first that does is believed.
_RANK_AND_SIZE = (
    ("HOROVOD_RANK", "HOROVOD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
)


def is_exportable(name: str) -> bool:
    """Whether a variable of the launcher makes sense on another host."""
    return _STAYS_HERE.match(name) is None


def get_env_rank_and_size() -> tuple[int, int]:
    """Rank and size as the launcher told them; (0, 1) without one."""
    for rank_name, size_name in _RANK_AND_SIZE:
        rank, size = os.environ.get(rank_name), os.environ.get(size_name)
        if rank is not None and size is not None:
            return int(rank), int(size)
        if rank is not None or size is not None:
            raise RuntimeError(
                f"Could not determine process rank and size: only one of {rank_name} and "
                f"{size_name} is set in the environment"
            )
    return 0, 1


def is_kubeflow_mpi() -> bool:
    """Whether this is the launcher pod of a Kubeflow MPIJob."""
    return os.environ.get("OMPI_MCA_plm_rsh_agent", "") == "/etc/mpi/kubexec.sh"
