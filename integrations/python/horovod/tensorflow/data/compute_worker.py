"""The job that prepares data:

    horovodrun -np 4 python -m horovod.tensorflow.data.compute_worker /shared/config.json

Rank 0 runs the service where this job and the one that trains meet, and writes the file by which
the other finds it. The job ends when the other one calls compute_client().shutdown().
"""

import argparse
import contextlib
import os
from typing import List, Optional

import horovod.tensorflow as hvd
from horovod.runner.common.service.compute_service import ComputeService
from horovod.runner.common.util import secret
from horovod.tensorflow.data.compute_service import (
    SIDES,
    TfDataServiceConfig,
    compute_worker_fn,
)


def main(dispatchers: int, dispatcher_side: str, configfile: str, timeout: int = 60) -> None:
    """On every rank. The number of ranks is a multiple of `dispatchers`."""
    hvd.init()
    rank, size = hvd.rank(), hvd.size()
    if dispatchers <= 0 or size % dispatchers:
        raise ValueError(
            f"Number of processes ({size}) must be a multiple of number of dispatchers "
            f"({dispatchers})."
        )
    if dispatcher_side not in SIDES:
        raise ValueError(f"dispatcher_side must be one of {SIDES}, not {dispatcher_side!r}")
    service: Optional[ComputeService] = None
    config: Optional[TfDataServiceConfig] = None
    if rank == 0:
        workers, key = size // dispatchers, secret.make_secret_key()
        service = ComputeService(dispatchers, workers, key)
        config = TfDataServiceConfig(
            dispatchers, workers, dispatcher_side, service.addresses(), key, timeout
        )
        config.write(configfile)
    try:
        compute_worker_fn(hvd.broadcast_object(config, name="TfDataServiceConfig"))
        hvd.join()  # all have heard that it is over
    finally:
        if service is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(configfile)  # nobody is there any more
            service.shutdown()


def _options(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m horovod.tensorflow.data.compute_worker",
        description="A rank of a job that prepares data for one that trains.",
    )
    parser.add_argument("configfile", help="written by rank 0, read by the training")
    parser.add_argument(
        "--dispatchers", type=int, default=1, help="dispatchers of the service (1)"
    )
    parser.add_argument(
        "--dispatcher-side", choices=SIDES, default="compute", help="who runs them (compute)"
    )
    parser.add_argument(
        "--timeout", type=int, default=60, help="seconds to wait for them and for workers (60)"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    chosen = _options(None)
    main(chosen.dispatchers, chosen.dispatcher_side, chosen.configfile, chosen.timeout)
