"""Launching by jsrun: not in this build. The names stay, so that importing them works."""

from __future__ import annotations

import shutil
from typing import Any, Mapping, NoReturn

_MISSING = (
    "MPI support has not been built: jsrun needs it (HOROVOD_WITH_MPI=1 has no effect here). "
    "Use horovodrun --gloo."
)


def is_jsrun_installed() -> bool:
    """Whether jsrun is in PATH."""
    return shutil.which("jsrun") is not None


def generate_jsrun_rankfile(settings: Any, path: str | None = None) -> NoReturn:
    """Would write the places of all ranks for jsrun."""
    raise ValueError(_MISSING)


def js_run(
    settings: Any,
    nics: Any,
    env: Mapping[str, str],
    command: Any,
    stdout: Any = None,
    stderr: Any = None,
) -> NoReturn:
    """Would run a job by jsrun."""
    raise ValueError(_MISSING)
