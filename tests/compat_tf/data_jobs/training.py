"""A rank of a training whose data another job (compute.py) prepares.

training.py DIRECTORY
"""

import sys
from typing import Any, List

import numpy as np
import pytest
import tensorflow as tf
from compute import WAYS, config_of

import horovod.tensorflow as hvd
from horovod.tensorflow.data.compute_service import TfDataServiceConfig, tf_data_service

N = 41


def _values(dataset: Any) -> List[int]:
    return [int(v) for v in dataset.as_numpy_iterator()]


def _everybodys(mine: List[int]) -> List[int]:
    return sorted(int(v) for v in hvd.allgather(np.array(mine, np.int64)))


def _prepared() -> Any:
    return tf.data.Dataset.range(N).map(lambda x: 2 * x)


def check_compute_side(config: TfDataServiceConfig) -> None:
    """All ways to read."""
    doubled = [2 * i for i in range(N)]
    rank, size = hvd.rank(), hvd.size()
    # Each rank by itself has all of it.
    assert sorted(_values(_prepared().send_to_data_service(config, rank))) == doubled
    if config.dispatchers > 1:
        return  # nothing is shared
    shared = _prepared().send_to_data_service(config, rank, reuse_dataset=True)
    assert _everybodys(_values(shared)) == doubled
    endless = tf.data.Dataset.range(N).repeat()
    with pytest.raises(ValueError, match="size"):
        endless.send_to_data_service(config, rank, round_robin=True)
    in_turns = endless.send_to_data_service(
        config, rank, size, processing_mode="parallel_epochs", round_robin=True
    )
    assert len(_values(in_turns.take(10))) == 10


def check_training_side(config: TfDataServiceConfig) -> None:
    """The dispatchers are ours."""
    with pytest.raises(RuntimeError, match="tf_data_service"):
        _prepared().send_to_data_service(config, hvd.rank())
    with tf_data_service(config, hvd.rank()) as address:
        assert address.startswith("grpc://")
        service = tf.data.experimental.service
        name = "job" if config.dispatchers == 1 else None
        read = _prepared().apply(service.distribute("distributed_epoch", address, job_name=name))
        mine = _values(read)
        got = _everybodys(mine) if config.dispatchers == 1 else sorted(mine)
        assert got == [2 * i for i in range(N)]
        hvd.join()  # rank 0 may have the dispatcher of all


def check(directory: str, side: str, dispatchers: int) -> None:
    """Reads, then says that it is over."""
    file = config_of(directory, side, dispatchers)
    config = TfDataServiceConfig.read(file, wait_for_file_creation=True, timeout=120)
    assert TfDataServiceConfig.from_dict(config.to_dict()) == config
    assert (config.dispatcher_side, config.dispatchers) == (side, dispatchers)
    (check_compute_side if side == "compute" else check_training_side)(config)
    hvd.join()  # nobody reads any more
    if hvd.rank() == 0:
        config.compute_client().shutdown()
        print(f"{side} {dispatchers}: all data has been read", flush=True)


if __name__ == "__main__":
    hvd.init()
    for way in WAYS:
        check(sys.argv[1], *way)
