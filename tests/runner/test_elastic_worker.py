"""A worker of an elastic job hears of hosts that come and go, and a worker of another does not."""

from __future__ import annotations

import os
from typing import Any, Iterator

import pytest

from horovod.runner.common.util import secret
from horovod.runner.common.util.network import NoValidAddressesFound
from horovod.runner.elastic.worker import (
    HostUpdateResult,
    WorkerNotificationClient,
    WorkerNotificationManager,
)
from horovod.runner.http.http_client import read_data_from_kvstore
from horovod.runner.http.http_server import KVStoreServer

ADDRESS = "127.0.0.1"


class Listener:
    """Notes what it hears."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_hosts_updated(self, timestamp: float, update_res: HostUpdateResult) -> None:
        self.heard.append((timestamp, update_res))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a store such as the driver will have."""
    monkeypatch.setenv("HOROVODX_SECRET", secret.make_secret_key().hex())
    server = KVStoreServer()
    yield server.start_server(ADDRESS)
    server.shutdown_server()


@pytest.fixture
def manager() -> Iterator[WorkerNotificationManager]:
    made = WorkerNotificationManager()
    yield made
    if made._service is not None:
        made._service.shutdown()


def test_the_driver_reaches_those_who_listen(
    store: int, manager: WorkerNotificationManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With everything from the environment, as a worker has it."""
    for name, value in {
        "HOROVOD_ELASTIC": "1",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": ADDRESS,
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(store),
        "HOROVOD_GLOO_IFACE": "lo",
        "HOROVOD_HOSTNAME": "somewhere",
        "HOROVOD_LOCAL_RANK": "3",
    }.items():
        monkeypatch.setenv(name, value)
    for _ in range(2):  # once for a process, however often it is asked for
        manager.init()
    addresses, key = read_data_from_kvstore(ADDRESS, store, "worker_addresses", "somewhere:3")
    assert set(addresses) == {"lo"} and len(key) == secret.SECRET_LENGTH
    first, second = Listener(), Listener()
    for listener in (first, first, second):
        manager.register_listener(listener)
    client = WorkerNotificationClient(addresses, key, verbose=0)
    client.notify_hosts_updated(7, HostUpdateResult.added)
    manager.remove_listener(second)
    manager.remove_listener(second)
    client.notify_hosts_updated(8, HostUpdateResult.mixed)
    assert first.heard == [(7, HostUpdateResult.added), (8, HostUpdateResult.mixed)]
    assert second.heard == [(7, HostUpdateResult.added)]
    with pytest.raises(NoValidAddressesFound):
        WorkerNotificationClient(addresses, secret.make_secret_key(), verbose=0)
    assert len(first.heard) == 2


def test_by_arguments(store: int, manager: WorkerNotificationManager) -> None:
    manager.init(ADDRESS, store, "lo", "elsewhere", 0)
    addresses, key = read_data_from_kvstore(ADDRESS, store, "worker_addresses", "elsewhere:0")
    WorkerNotificationClient(addresses, key, 0).notify_hosts_updated(1)


def test_nothing_listens_in_a_job_without_a_driver(
    manager: WorkerNotificationManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rendezvous is there, but nobody would call."""
    monkeypatch.setenv("HOROVOD_GLOO_RENDEZVOUS_ADDR", ADDRESS)
    monkeypatch.setenv("HOROVOD_GLOO_RENDEZVOUS_PORT", "1")
    for value in (None, "", "0"):
        if value is None:
            monkeypatch.delenv("HOROVOD_ELASTIC", raising=False)
        else:
            monkeypatch.setenv("HOROVOD_ELASTIC", value)
        manager.init()
        assert manager._service is None


def test_a_driver_that_is_not_there(
    manager: WorkerNotificationManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOROVODX_SECRET", secret.make_secret_key().hex())
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(RuntimeError, match="worker_addresses/localhost:0"):
        manager.init(ADDRESS, 1, "lo", "localhost", 0)
    assert manager._service is None
    assert len(os.listdir("/proc/self/fd")) == before, "its service has ended"
