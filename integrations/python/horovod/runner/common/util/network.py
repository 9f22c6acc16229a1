"""Services that speak signed pickles; nothing is unpickled before its signature is checked.

A connection carries one request and its answer. The service begins with a nonce, the client puts
one of its own before its request, and both are signed with each message: what was recorded is good
for no other connection, in neither direction.
"""

from __future__ import annotations

import os
import queue
import socket
import socketserver
import struct
import threading
from typing import Any, Iterable

from horovod.runner.agent.interfaces import ipv4_interfaces
from horovod.runner.common.util import secret

MOST_BYTES = 256 << 20  # in a message
_LENGTH = struct.Struct("i")
_PIECE = 1 << 20
_NONCE = 32


class PingRequest:
    """Are you there?"""


class NoValidAddressesFound(Exception):
    """A service answers on none of its addresses."""


class PingResponse:
    """Yes: my name, and where the question came from."""

    def __init__(self, service_name: str, source_address: str) -> None:
        self.service_name = service_name
        self.source_address = source_address


class AckResponse:
    """Done."""


class AckStreamResponse:
    """Done; a stream of text follows until the connection ends."""


def _read_exactly(file: Any, count: int) -> bytes:
    """Memory grows with what arrives, not with what was announced."""
    data = bytearray()
    while len(data) < count:
        piece = file.read(min(_PIECE, count - len(data)))
        if not piece:
            raise EOFError("the connection ended in the middle of a message")
        data += piece
    return bytes(data)


class Wire:
    """Messages: HMAC-SHA256 of what they are bound to and the body, the body's length as an int,
    the body as a cloudpickle."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def write(self, obj: Any, wfile: Any, bound_to: bytes = b"") -> None:
        """Sends an object, to be read with the same `bound_to`."""
        import cloudpickle

        body = cloudpickle.dumps(obj)
        if len(body) > MOST_BYTES:
            raise ValueError(f"a message of {len(body)} bytes; at most {MOST_BYTES} are allowed")
        digest = secret.compute_digest(self._key, bound_to + body)
        wfile.write(digest + _LENGTH.pack(len(body)) + body)
        wfile.flush()

    def stream(self, stream: Any, wfile: Any) -> None:
        """Sends what can be read from a stream of text, until its end."""
        while True:
            text = stream.read(_PIECE)
            if not text:
                return
            wfile.write(text if isinstance(text, bytes) else text.encode("utf-8"))
            wfile.flush()

    def read(self, rfile: Any, bound_to: bytes = b"") -> Any:
        """Receives an object; an exception if whoever sent it does not know the key."""
        digest = _read_exactly(rfile, secret.DIGEST_LENGTH)
        (length,) = _LENGTH.unpack(_read_exactly(rfile, _LENGTH.size))
        if not 0 <= length <= MOST_BYTES:
            raise ValueError(f"a message of {length} bytes; at most {MOST_BYTES} are allowed")
        body = _read_exactly(rfile, length)
        if not secret.check_digest(self._key, bound_to + body, digest):
            raise PermissionError("Security error: the digest does not match the message")
        import cloudpickle

        return cloudpickle.loads(body)


def _bound(kind: bytes, nonce: bytes, clients: bytes) -> bytes:
    """To one connection, and to one direction of it."""
    return kind + nonce + clients


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = 128


class BasicService:
    """Answers signed requests in threads; subclasses override _handle()."""

    def __init__(self, service_name: str, key: bytes, nics: Iterable[str] | None) -> None:
        self._service_name = service_name
        self._wire = Wire(key)
        self._nics = set(nics) if nics else None
        self._server = _Server((self._bind_address(), 0), self._handler_class())
        self._port = int(self._server.server_address[1])
        self._addresses = self._own_addresses()
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def _bind_address(self) -> str:
        """The one address of the interfaces given; all addresses if there are more."""
        own = [a for name, a in ipv4_interfaces() if self._nics and name in self._nics]
        return own[0] if len(own) == 1 else ""

    def _own_addresses(self) -> dict[str, list[tuple[str, int]]]:
        addresses: dict[str, list[tuple[str, int]]] = {}
        for name, address in ipv4_interfaces():
            if self._nics is None or name in self._nics:
                addresses.setdefault(name, []).append((address, self._port))
        if not addresses:
            raise NoValidAddressesFound(f"none of {self._nics} has an IPv4 address here")
        return addresses

    def _handler_class(service) -> type[socketserver.StreamRequestHandler]:  # noqa: N805, B902
        class Handler(socketserver.StreamRequestHandler):
            timeout = 60

            def handle(self) -> None:
                nonce = os.urandom(_NONCE)
                try:
                    self.wfile.write(nonce)
                    theirs = _read_exactly(self.rfile, _NONCE)
                    request = service._wire.read(self.rfile, _bound(b"request", nonce, theirs))
                except Exception:
                    return  # somebody else's, or gone
                response = service._handle(request, self.client_address)
                stream = None
                if isinstance(response, tuple):
                    response, stream = response
                if response is None:
                    raise TypeError(f"{service._service_name} does not know {type(request)}")
                try:
                    service._wire.write(response, self.wfile, _bound(b"answer", nonce, theirs))
                    if stream is not None:
                        service._wire.stream(stream, self.wfile)
                except OSError:
                    pass  # whoever asked has gone

        return Handler

    def _handle(self, req: Any, client_address: tuple[str, int]) -> Any:
        if isinstance(req, PingRequest):
            return PingResponse(self._service_name, client_address[0])
        return None

    def addresses(self) -> dict[str, list[tuple[str, int]]]:
        """Where the service is: interface, then (address, port) of each."""
        return {name: list(places) for name, places in self._addresses.items()}

    def get_port(self) -> int:
        """Its port."""
        return self._port

    def shutdown(self) -> None:
        """Stops answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class BasicClient:
    """Talks to a BasicService on the addresses where it answers."""

    def __init__(
        self,
        service_name: str,
        addresses: dict[str, list[tuple[str, int]]],
        key: bytes,
        verbose: int,
        match_intf: bool = False,
        probe_timeout: float = 20,
        attempts: int = 3,
    ) -> None:
        self._service_name = service_name
        self._wire = Wire(key)
        self._verbose = verbose
        self._match_intf = match_intf
        self._probe_timeout = probe_timeout
        self._attempts = attempts
        self._addresses = self._probe(addresses)
        if not self._addresses:
            raise NoValidAddressesFound(
                f"{service_name} answers on none of its addresses: {addresses}"
            )

    def addresses(self) -> dict[str, list[tuple[str, int]]]:
        """The addresses on which it answers."""
        return self._addresses

    def _probe(
        self, addresses: dict[str, list[tuple[str, int]]]
    ) -> dict[str, list[tuple[str, int]]]:
        answers: queue.Queue[tuple[str, tuple[str, int]]] = queue.Queue()
        threads = [
            threading.Thread(target=self._probe_one, args=(name, place, answers), daemon=True)
            for name, places in addresses.items()
            for place in places
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found: dict[str, list[tuple[str, int]]] = {}
        while not answers.empty():
            name, place = answers.get()
            found.setdefault(name, []).append(place)
        return found

    def _probe_one(self, name: str, place: tuple[str, int], answers: queue.Queue[Any]) -> None:
        for _ in range(self._attempts):
            try:
                response = self._talk(place, PingRequest(), timeout=self._probe_timeout)
            except Exception:
                continue
            if isinstance(response, PingResponse) and response.service_name == self._service_name:
                if not self._match_intf or self._is_mine(name, response.source_address):
                    answers.put((name, place))
                return

    @staticmethod
    def _is_mine(name: str, address: str) -> bool:
        return (name, address) in ipv4_interfaces()

    def _talk(
        self, place: tuple[str, int], req: Any, stream: Any = None, timeout: float | None = None
    ) -> Any:
        with socket.create_connection((place[0], place[1]), timeout) as peer:
            with peer.makefile("rb") as rfile, peer.makefile("wb") as wfile:
                nonce, mine = _read_exactly(rfile, _NONCE), os.urandom(_NONCE)
                wfile.write(mine)
                self._wire.write(req, wfile, _bound(b"request", nonce, mine))
                response = self._wire.read(rfile, _bound(b"answer", nonce, mine))
                if isinstance(response, AckStreamResponse):
                    for line in rfile:
                        if stream is not None:
                            stream.write(line.decode("utf-8", "replace"))
                return response

    def _send(self, req: Any, stream: Any = None) -> Any:
        """One answer, from whichever address gives it."""
        places = [place for places in self._addresses.values() for place in places]
        for attempt in range(self._attempts):
            for place in places:
                try:
                    return self._talk(place, req, stream)
                except OSError as error:
                    last = attempt == self._attempts - 1 and place == places[-1]
                    if last or isinstance(error, PermissionError):
                        raise
        return None
