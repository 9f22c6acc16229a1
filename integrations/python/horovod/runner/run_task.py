"""`python -m horovod.runner.run_task`: a worker of horovod.run().

Reads the function from a file that the launcher has opened, and writes what it returns to a pipe.
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


def main() -> None:
    """Runs the function."""
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
