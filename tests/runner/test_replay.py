"""Signed messages that somebody has recorded and sends again."""

from __future__ import annotations

import socket
import threading
from typing import Any, Iterator

import pytest

from horovod.runner.common.util import network, secret

KEY = secret.make_secret_key()
SECONDS = 20
NONCE = 32


class Counter(network.BasicService):
    """Counts what it is told."""

    def __init__(self) -> None:
        self.count = 0
        super().__init__("counter", KEY, ["lo"])

    def _handle(self, req: Any, client_address: Any) -> Any:
        if isinstance(req, int):
            self.count += req
            return network.AckResponse()
        return super()._handle(req, client_address)


@pytest.fixture
def counter() -> Iterator[Counter]:
    service = Counter()
    yield service
    service.shutdown()


def read_exactly(sock: socket.socket, count: int) -> bytes:
    with sock.makefile("rb") as file:
        return file.read(count)


class Tap:
    """Sits between a client and a service, and writes down what each of them says."""

    def __init__(self, port: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._to = port
        self.said = {"client": b"", "service": b""}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        client = self._listener.accept()[0]
        service = socket.create_connection(("127.0.0.1", self._to), SECONDS)
        back = threading.Thread(target=self._carry, args=("service", service, client), daemon=True)
        back.start()
        self._carry("client", client, service)
        back.join(SECONDS)

    def _carry(self, who: str, source: socket.socket, to: socket.socket) -> None:
        while data := source.recv(4096):
            self.said[who] += data
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        self._thread.join(SECONDS)
        self._listener.close()


def recorded(counter: Counter) -> dict[str, bytes]:
    """One request that was right, and its answer."""
    client = network.BasicClient("counter", counter.addresses(), KEY, 0)
    tap = Tap(counter.get_port())
    assert isinstance(
        client._talk(("127.0.0.1", tap.port), 1, timeout=SECONDS), network.AckResponse
    )
    tap.end()
    assert counter.count == 1
    return tap.said


def test_a_request_is_good_for_one_connection(counter: Counter) -> None:
    said = recorded(counter)
    with socket.create_connection(("127.0.0.1", counter.get_port()), SECONDS) as sock:
        nonce = read_exactly(sock, NONCE)
        sock.sendall(said["client"])
        assert read_exactly(sock, 1) == b"", "the connection is closed without an answer"
    assert counter.count == 1
    assert nonce != said["service"][:NONCE]


def test_an_answer_is_good_for_one_connection(counter: Counter) -> None:
    """Who pretends to be the service cannot say again what the service once said."""
    said = recorded(counter)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def pretend() -> None:
            with listener.accept()[0] as peer:
                peer.sendall(said["service"])
                peer.recv(65536)

        threading.Thread(target=pretend, daemon=True).start()
        client = network.BasicClient("counter", counter.addresses(), KEY, 0)
        with pytest.raises(PermissionError, match="Security error"):
            client._talk(("127.0.0.1", listener.getsockname()[1]), 1, timeout=SECONDS)


def test_a_request_is_no_answer(counter: Counter) -> None:
    """Nor can it be sent back to where it came from."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def mirror() -> None:
            with listener.accept()[0] as peer:
                peer.sendall(bytes(NONCE))
                peer.sendall(peer.recv(65536)[NONCE:])
                peer.recv(65536)

        threading.Thread(target=mirror, daemon=True).start()
        client = network.BasicClient("counter", counter.addresses(), KEY, 0)
        with pytest.raises((PermissionError, EOFError)):
            client._talk(("127.0.0.1", listener.getsockname()[1]), 1, timeout=SECONDS)
