"""horovod.tensorflow.data: one job prepares data, another one, of two ranks, reads it."""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator

import pytest
import rank_jobs

from horovod.runner.common.service.compute_service import ComputeClient, ComputeService
from horovod.runner.common.util.network import NoValidAddressesFound
from horovod.runner.common.util.timeout import TimeoutException

SECONDS = 240.0
JOBS = Path(__file__).parent / "data_jobs"


def _end(directory: Path) -> None:
    """Whoever still prepares data need not."""
    for file in directory.glob("*.json"):
        config = json.loads(file.read_text())
        ComputeClient(config["addresses"], bytes.fromhex(config["key"])).shutdown()


def test_two_jobs(tmp_path: Path) -> None:
    def job(file: str) -> rank_jobs.Outcome:
        return rank_jobs.run(2, [sys.executable, str(JOBS / file), str(tmp_path)], SECONDS)

    with ThreadPoolExecutor() as threads:
        preparing = threads.submit(job, "compute.py")
        training = job("training.py")
        _end(tmp_path)
        prepared = preparing.result()
    print(prepared.output, training.output)
    assert training.code == 0 and training.output.count("all data has been read") == 4
    assert prepared.code == 0
    assert not list(tmp_path.iterdir())


KEY = b"k" * 32


@pytest.fixture
def service() -> Iterator[ComputeService]:
    made = ComputeService(2, 2, KEY)
    yield made
    made.shutdown()


def test_meeting(service: ComputeService) -> None:
    client = ComputeClient(service.addresses(), KEY)
    with pytest.raises(TimeoutException, match="dispatcher 1 to register"):
        client.wait_for_dispatcher_registration(1, 0.01)
    client.register_dispatcher(0, "grpc://a:1")
    client.register_dispatcher(0, "grpc://a:1")
    assert client.wait_for_dispatcher_registration(0, 10) == "grpc://a:1"
    client.register_worker_for_dispatcher(0, 0)
    client.register_worker_for_dispatcher(0, 0)
    with pytest.raises(TimeoutException, match="1 of 2 have"):
        client.wait_for_dispatcher_worker_registration(0, 0.01)
    late = threading.Timer(0.05, lambda: client.register_worker_for_dispatcher(0, 1))
    late.start()
    client.wait_for_dispatcher_worker_registration(0, 60)
    late.join()


def test_mistakes(service: ComputeService) -> None:
    client = ComputeClient(service.addresses(), KEY)
    for wrong in (-1, 2):
        with pytest.raises(IndexError, match=str(wrong)):
            client.register_dispatcher(wrong, "grpc://a:1")
        with pytest.raises(IndexError):
            client.wait_for_dispatcher_registration(wrong, 10)
        with pytest.raises(IndexError):
            client.register_worker_for_dispatcher(wrong, 0)
        with pytest.raises(IndexError):
            client.wait_for_dispatcher_worker_registration(wrong, 10)
    client.register_dispatcher(1, "grpc://a:1")
    with pytest.raises(ValueError, match="different address"):
        client.register_dispatcher(1, "grpc://b:1")
    for worker in (0, 1):
        client.register_worker_for_dispatcher(1, worker)
    with pytest.raises(ValueError, match="too many"):
        client.register_worker_for_dispatcher(1, 2)
    for counts in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="larger than 0"):
            ComputeService(*counts, key=KEY)
    with pytest.raises(NoValidAddressesFound):
        ComputeClient({"lo": [("127.0.0.1", service.get_port())]}, b"x" * 32)


def test_the_end(service: ComputeService) -> None:
    client = ComputeClient(service.addresses(), KEY)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(client.wait_for_shutdown)
        client.shutdown()
        waiting.result(60)
    client.wait_for_shutdown()


def test_a_service_that_has_gone() -> None:
    service = ComputeService(1, 1, KEY)
    client = ComputeClient(service.addresses(), KEY)
    service.shutdown()
    with pytest.raises(ConnectionError, match="has gone"):
        client.wait_for_shutdown()
