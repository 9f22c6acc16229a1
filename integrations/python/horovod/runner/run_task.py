"""`python -m horovod.runner.run_task`: a worker of horovod.run().

Reads the function from a file that the launcher has opened, and writes what it returns to a pipe;
started by mpirun, both are files of the directory that is its argument.
An exception goes to standard error and ends the process with exit code 1.
"""

from __future__ import annotations

import os
import sys

from horovod.runner.agent.worker import FUNCTION_FD, RESULT_FD


def _take(name: str) -> int:
    """A descriptor for this process only, not for those that it starts."""
    fd = int(os.environ.pop(name))
    os.set_inheritable(fd, False)
    return fd


def _run_by_files(folder: str) -> None:
    """As a process of mpirun, which opens nothing for it."""
    from horovod.runner.common.util.env import get_env_rank_and_size
    from horovod.runner.function_pickle import pack_result, unpack_function

    with open(os.path.join(folder, "function"), "rb") as file:
        function = unpack_function(file)
    result = pack_result(function())
    rank, _ = get_env_rank_and_size()
    with open(os.path.join(folder, f"result.{rank}"), "wb") as file:
        file.write(result)


def main() -> None:
    """Runs the function."""
    if FUNCTION_FD not in os.environ and len(sys.argv) == 2:
        return _run_by_files(sys.argv[1])
    if FUNCTION_FD not in os.environ:
        sys.exit("horovod.runner.run_task is started by horovod.run(), not by hand")
    function_fd, result_fd = _take(FUNCTION_FD), _take(RESULT_FD)

    from horovod.runner.function_pickle import pack_result, unpack_function

    with os.fdopen(function_fd, "rb") as file:
        function = unpack_function(file)
    result = pack_result(function())
    with os.fdopen(result_fd, "wb") as pipe:
        pipe.write(result)


if __name__ == "__main__":
    main()
