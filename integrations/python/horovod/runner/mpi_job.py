"""From parsed options to a job that mpirun starts."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, Mapping

from horovod.runner.mpi_run import mpi_run
from horovod.runner.static_run import settings_of


def run_command_by_mpi(args: Any, env: Mapping[str, str]) -> None:
    """Becomes mpirun, which runs the command of `args` on all ranks."""
    mpi_run(settings_of(args), args.nics, env, list(args.command))


def run_function_by_mpi(args: Any, env: Mapping[str, str]) -> list[Any]:
    """Runs the function of `args` on all ranks; what it returned, by rank.

    Function and results are files of a directory of this user's, which all hosts must see, as they
    see the program in most clusters.
    """
    from horovod.runner.function_pickle import pack_function, unpack_results

    words = [args.executable or sys.executable, "-m", "horovod.runner.run_task"]
    with tempfile.TemporaryDirectory(prefix="horovod-run-", dir=os.getcwd()) as folder:
        with open(os.path.join(folder, "function"), "wb") as file:
            file.write(pack_function(args.run_func))
        mpi_run(settings_of(args), args.nics, env, [*words, folder])
        return unpack_results(_results(folder, args.num_proc), args.num_proc)


def _results(folder: str, ranks: int) -> dict[int, bytearray]:
    results = {}
    for rank in range(ranks):
        try:
            with open(os.path.join(folder, f"result.{rank}"), "rb") as file:
                results[rank] = bytearray(file.read())
        except OSError:
            continue  # it is missed by its rank
    return results
