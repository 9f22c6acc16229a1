"""A tf.data service run by one job (compute_worker.py) for another, which trains."""

import contextlib
import dataclasses
import json
import os
import socket
import tempfile
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

import tensorflow as tf

import horovod.tensorflow as hvd
from horovod.runner.common.service.compute_service import ComputeClient

Addresses = Dict[str, List[Tuple[str, int]]]
SIDES = ("compute", "training")


@dataclasses.dataclass(frozen=True)
class TfDataServiceConfig:
    """What a training job must know of the job that prepares its data.

    dispatchers: of the service. Ranks of the training share them.
    workers_per_dispatcher: processes that prepare data for one.
    dispatcher_side: "compute" if the job that prepares data runs them, or "training".
    addresses: where the jobs meet: interface, then (address, port) of each.
    key: known to these jobs alone.
    timeout: seconds to wait for dispatchers and workers.
    """

    dispatchers: int
    workers_per_dispatcher: int
    dispatcher_side: str
    addresses: Addresses
    key: bytes
    timeout: int = 60

    def compute_client(self, verbose: int = 1) -> ComputeClient:
        """Somebody who talks to the service where the jobs meet."""
        return ComputeClient(self.addresses, self.key, verbose)

    def to_dict(self) -> Dict[str, Any]:
        """For JSON."""
        return {**dataclasses.asdict(self), "key": self.key.hex()}

    @staticmethod
    def from_dict(d: Dict[str, Any]) -> "TfDataServiceConfig":
        """The reverse of to_dict()."""
        addresses = {
            name: [(str(host), int(port)) for host, port in places]
            for name, places in d["addresses"].items()
        }
        return TfDataServiceConfig(
            **{**d, "addresses": addresses, "key": bytes.fromhex(d["key"])}
        )

    def write(self, filename: str) -> None:
        """Writes a file that only its owner may read; it is there all at once."""
        directory = os.path.dirname(os.path.abspath(filename))
        handle, temporary = tempfile.mkstemp(dir=directory, prefix=os.path.basename(filename))
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self.to_dict(), file)
            os.rename(temporary, filename)
        except BaseException:
            os.unlink(temporary)
            raise

    @staticmethod
    def read(
        filename: str, wait_for_file_creation: bool = False, timeout: Optional[float] = None
    ) -> "TfDataServiceConfig":
        """Reads such a file, or waits for it first: for `timeout` seconds, if that is given."""
        start = time.monotonic()
        while wait_for_file_creation and not os.path.exists(filename):
            if timeout is not None and time.monotonic() - start > timeout:
                raise TimeoutError(f"{filename} has not been written within {timeout:g} seconds")
            time.sleep(1)
        with open(filename, encoding="utf-8") as file:
            return TfDataServiceConfig.from_dict(json.load(file))


def _own_address(client: ComputeClient) -> str:
    """This machine's address on the way to where the jobs meet; loopback if there is no other."""
    places = [place for places in client.addresses().values() for place in places]
    places.sort(key=lambda place: place[0].startswith("127."))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(places[0])  # sends nothing
        return str(probe.getsockname()[0])


def _stop(server: Any) -> None:
    # Public in later versions.
    getattr(server, "stop", server._stop)()


@contextlib.contextmanager
def _dispatcher(client: ComputeClient, dispatcher_id: int) -> Iterator[str]:
    """Runs a dispatcher that others are told of; yields its address."""
    config = tf.data.experimental.service.DispatcherConfig(port=0)
    server = tf.data.experimental.service.DispatchServer(config)
    try:
        protocol, _, place = server.target.partition("://")
        address = f"{protocol}://{_own_address(client)}:{place.rpartition(':')[2]}"
        client.register_dispatcher(dispatcher_id, address)
        yield address
    finally:
        _stop(server)


@contextlib.contextmanager
def _worker(
    client: ComputeClient, dispatcher_id: int, worker_id: int, address: str
) -> Iterator[None]:
    """Runs a worker of the dispatcher at `address`."""
    service = tf.data.experimental.service
    config = service.WorkerConfig(
        dispatcher_address=address.partition("://")[2],
        worker_address=f"{_own_address(client)}:%port%",
    )
    server = service.WorkerServer(config)
    try:
        client.register_worker_for_dispatcher(dispatcher_id, worker_id)
        yield
    finally:
        _stop(server)


@contextlib.contextmanager
def tf_data_service(compute_config: TfDataServiceConfig, rank: int) -> Iterator[str]:
    """The address of the dispatcher that a rank of the training uses.

    Runs it if dispatchers are on the side of the training: on every rank if there are several,
    else on rank 0. Returns when it has all its workers.
    """
    client = compute_config.compute_client(verbose=2)
    single = compute_config.dispatchers == 1
    with contextlib.ExitStack() as stack:
        if compute_config.dispatcher_side == "training":
            dispatcher_id = 0 if single else rank
            if rank == 0 or not single:
                stack.enter_context(_dispatcher(client, dispatcher_id))
        else:
            dispatcher_id = rank % compute_config.dispatchers
        timeout = compute_config.timeout
        address = client.wait_for_dispatcher_registration(dispatcher_id, timeout)
        client.wait_for_dispatcher_worker_registration(dispatcher_id, timeout)
        yield address


def send_to_data_service(
    dataset: tf.data.Dataset,
    compute_config: TfDataServiceConfig,
    rank: int,
    size: Optional[int] = None,
    processing_mode: str = "distributed_epoch",
    reuse_dataset: bool = False,
    round_robin: bool = False,
) -> tf.data.Dataset:
    """The dataset as the service prepares it; also a method of tf.data.Dataset.

    rank, size: of the training.
    processing_mode: "distributed_epoch" splits the dataset among workers, "parallel_epochs" has
    each worker prepare all of it.
    reuse_dataset: ranks share what is prepared; else it is prepared for each rank.
    round_robin: ranks share and take turns; `size` is needed, and a dataset without an end.
    """
    if compute_config.dispatcher_side == "training":
        raise RuntimeError(
            "training side dispatcher not support, use tf_data_service context manager instead"
        )
    if round_robin and size is None:
        raise ValueError("round_robin needs the number of ranks: size")
    # By its name ranks know what they share.
    job_name = "job" if reuse_dataset else "round_robin_job" if round_robin else None
    with tf_data_service(compute_config, rank) as address:
        return dataset.apply(
            tf.data.experimental.service.distribute(
                processing_mode=processing_mode,
                service=address,
                job_name=job_name,
                consumer_index=rank if round_robin else None,
                num_consumers=size if round_robin else None,
            )
        )


tf.data.Dataset.send_to_data_service = send_to_data_service


def compute_worker_fn(compute_config: TfDataServiceConfig) -> None:
    """What every rank of the job that prepares data runs, until somebody calls shutdown()."""
    hvd.init()
    client = compute_config.compute_client(verbose=2)
    dispatcher_id, place = divmod(hvd.rank(), compute_config.workers_per_dispatcher)
    with contextlib.ExitStack() as stack:
        if compute_config.dispatcher_side == "compute" and place == 0:
            stack.enter_context(_dispatcher(client, dispatcher_id))
        address = client.wait_for_dispatcher_registration(dispatcher_id, compute_config.timeout)
        stack.enter_context(_worker(client, dispatcher_id, hvd.rank(), address))
        client.wait_for_shutdown()
