"""How a worker hears that hosts came or went.

The elastic driver connects to a small service in the worker that is rank 0; the worker has told it
where that is by the key-value store of the job. Where no elastic driver started the job nothing
listens, and nobody is told anything.
"""

from __future__ import annotations

import enum
import os
import threading
from typing import Any

from horovod.runner.common.util import secret
from horovod.runner.common.util.network import AckResponse, BasicClient, BasicService

WORKER_ADDRESSES = "worker_addresses"  # scope in the key-value store


class HostUpdateResult(enum.IntFlag):
    """What happened to the hosts; kinds can be added up."""

    no_update = 0
    removed = 1
    added = 2
    mixed = removed | added


def has_elastic_driver() -> bool:
    """Whether this process belongs to a job whose hosts may come and go."""
    return os.environ.get("HOROVOD_ELASTIC", "0").strip() not in ("", "0")


class HostsUpdatedRequest:
    """From the driver: hosts changed at this time."""

    def __init__(
        self, timestamp: float, res: HostUpdateResult = HostUpdateResult.no_update
    ) -> None:
        self.timestamp = timestamp
        self.res = res


class WorkerNotificationManager:
    """Hands news of hosts to the states of this process. One for all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._service: WorkerNotificationService | None = None
        self._listeners: list[Any] = []

    def init(
        self,
        rendezvous_addr: str | None = None,
        rendezvous_port: int | None = None,
        nic: str | None = None,
        hostname: str | None = None,
        local_rank: int | None = None,
    ) -> None:
        """Starts the service, once, and tells the driver where it is.

        What is not given comes from the environment; nothing happens without a rendezvous address,
        which is looked up in elastic jobs only.
        """
        env = os.environ
        if rendezvous_addr is None and has_elastic_driver():
            rendezvous_addr = env.get("HOROVOD_GLOO_RENDEZVOUS_ADDR")
        if not rendezvous_addr:
            return
        if rendezvous_port is None:
            rendezvous_port = int(env.get("HOROVOD_GLOO_RENDEZVOUS_PORT", "-1"))
        nic = nic or env.get("HOROVOD_GLOO_IFACE") or None
        hostname = hostname or env.get("HOROVOD_HOSTNAME", "localhost")
        if local_rank is None:
            local_rank = int(env.get("HOROVOD_LOCAL_RANK", "0"))
        with self._lock:
            if self._service is None:
                place = f"{hostname}:{local_rank}"
                self._service = self._started(rendezvous_addr, rendezvous_port, nic, place)

    def _started(
        self, addr: str, port: int, nic: str | None, place: str
    ) -> WorkerNotificationService:
        from horovod.runner.http.http_client import put_data_into_kvstore

        key = secret.make_secret_key()
        service = WorkerNotificationService(key, nic, self)
        try:
            value = (service.addresses(), key)
            put_data_into_kvstore(addr, port, WORKER_ADDRESSES, place, value)
        except BaseException:
            service.shutdown()
            raise
        return service

    def register_listener(self, listener: Any) -> None:
        """From now on listener.on_hosts_updated(timestamp, update_res) is called."""
        with self._lock:
            if not any(each is listener for each in self._listeners):
                self._listeners.append(listener)

    def remove_listener(self, listener: Any) -> None:
        """And no longer."""
        with self._lock:
            self._listeners = [each for each in self._listeners if each is not listener]

    def handle_hosts_updated(self, timestamp: float, update_res: HostUpdateResult) -> None:
        """Tells all who listen."""
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener.on_hosts_updated(timestamp, update_res)


class WorkerNotificationService(BasicService):
    """Hears from the driver, over signed messages."""

    NAME = "worker notification service"

    def __init__(self, key: bytes, nic: str | None, manager: WorkerNotificationManager) -> None:
        self._manager = manager
        super().__init__(self.NAME, key, [nic] if nic else None)

    def _handle(self, req: Any, client_address: tuple[str, int]) -> Any:
        if isinstance(req, HostsUpdatedRequest):
            self._manager.handle_hosts_updated(req.timestamp, req.res)
            return AckResponse()
        return super()._handle(req, client_address)


class WorkerNotificationClient(BasicClient):
    """The driver's end."""

    def __init__(
        self,
        addresses: dict[str, list[tuple[str, int]]],
        key: bytes,
        verbose: int,
        match_intf: bool = False,
    ) -> None:
        super().__init__(
            WorkerNotificationService.NAME, addresses, key, verbose, match_intf=match_intf
        )

    def notify_hosts_updated(
        self, timestamp: float, update_res: HostUpdateResult = HostUpdateResult.no_update
    ) -> None:
        """Says that hosts changed, and how."""
        self._send(HostsUpdatedRequest(timestamp, update_res))
