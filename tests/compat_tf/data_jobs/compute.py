"""A rank of the job that prepares data: the command, once for each way to lay out the service.

compute.py DIRECTORY
"""

import runpy
import sys

import pytest

WAYS = [("compute", 1), ("compute", 2), ("training", 1), ("training", 2)]


def config_of(directory: str, side: str, dispatchers: int) -> str:
    """The file by which the jobs find each other."""
    return f"{directory}/{side}-{dispatchers}.json"


def _command(*words: str) -> None:
    sys.argv = ["compute_worker", *words]
    runpy.run_module("horovod.tensorflow.data.compute_worker", run_name="__main__")


if __name__ == "__main__":
    directory = sys.argv[1]
    with pytest.raises(ValueError, match="must be a multiple of number of dispatchers"):
        _command(f"{directory}/none.json", "--dispatchers=3")
    for side, dispatchers in WAYS:
        config = config_of(directory, side, dispatchers)
        layout = [f"--dispatchers={dispatchers}", f"--dispatcher-side={side}"]
        _command(config, *layout, "--timeout=120")
