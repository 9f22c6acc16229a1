"""Which networks join two hosts: one listens on every address, the other dials them all.

An address can answer and yet be the wrong host (every host has the same docker0, say), so both
sides prove that they know the probe's token, and the one that listens says which host it is.
"""

from __future__ import annotations

import os
import socket

from .interfaces import ipv4_interfaces

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import List, Optional, Tuple, Union

SECONDS = 5.0  # for one dial
MOST_CALLERS = 256  # at a time; the oldest goes first
_NONCE = 16
_DIGEST = 32


def _networks() -> List[Tuple[str, str]]:
    return [(name, address) for name, address in ipv4_interfaces() if not is_loopback(address)]


def is_loopback(address: str) -> bool:
    """Whether an IPv4 address stays inside its machine."""
    return address.startswith("127.")


def _proof(token: str, *parts: bytes) -> bytes:
    import hmac

    return hmac.new(token.encode(), b"|".join(parts), "sha256").digest()


def _receive(peer: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = peer.recv(count - len(data))
        if not piece:
            raise ConnectionError("the other side hung up")
        data += piece
    return data


# --- the side that listens ---


def open_listeners() -> Tuple[List[socket.socket], List[str]]:
    """A socket for each address of this host, and interface, address, port of each as texts."""
    listeners, told = [], []
    for name, address in _networks():
        try:
            listener = socket.create_server((address, 0), backlog=64)
        except OSError:
            continue
        listeners.append(listener)
        told += [name, address, str(listener.getsockname()[1])]
    return listeners, told


def serve(listeners: List[socket.socket], token: str, host: str) -> List[str]:
    """Answers everybody who knows the token, for ever; runs in a process of its own.

    Nobody waits for anybody: who is silent or slow has SECONDS, like everyone else.
    """
    import select

    callers: List[_Caller] = []
    for listener in listeners:
        listener.setblocking(False)
    while True:
        watched: List[Union[socket.socket, _Caller]] = [*listeners, *callers]
        ready = select.select(watched, [], [], SECONDS / 5)[0]
        for listener in (one for one in listeners if one in ready):
            caller = _accept(listener)
            callers += [caller] if caller else []
        kept = []
        for caller in callers:
            if (caller in ready and caller.is_done(token, host)) or caller.is_late():
                caller.peer.close()
            else:
                kept.append(caller)
        for caller in kept[:-MOST_CALLERS]:
            caller.peer.close()
        callers = kept[-MOST_CALLERS:]


class _Caller:
    """Somebody who may know the token."""

    def __init__(self, peer: socket.socket) -> None:
        import time

        self.peer = peer
        self._nonce = os.urandom(_NONCE)
        self._said = b""
        self._clock = time.monotonic
        self._until = self._clock() + SECONDS
        peer.setblocking(False)
        peer.sendall(self._nonce)

    def fileno(self) -> int:
        """For select()."""
        return self.peer.fileno()

    def is_late(self) -> bool:
        """It had its time."""
        return self._clock() > self._until

    def is_done(self, token: str, host: str) -> bool:
        """Hears it out; whether it has been answered, or is not worth an answer."""
        import hmac

        try:
            piece = self.peer.recv(_NONCE + _DIGEST - len(self._said))
            self._said += piece
            if len(self._said) < _NONCE + _DIGEST:
                return not piece
            theirs, proof = self._said[:_NONCE], self._said[_NONCE:]
            if hmac.compare_digest(proof, _proof(token, b"dial", self._nonce, theirs)):
                self.peer.sendall(_proof(token, b"answer", theirs, self._nonce, host.encode()))
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True


def _accept(listener: socket.socket) -> Optional[_Caller]:
    """None if the caller has gone, or there is no descriptor left for it."""
    try:
        return _Caller(listener.accept()[0])
    except OSError:
        return None


# --- the side that dials ---


def reachable(token: str, host: str, targets: List[str]) -> List[str]:
    """Interfaces of this host over which `host` answers on an interface of the same name."""
    import threading

    found: List[str] = []
    calls = []
    for name, address, port in zip(targets[::3], targets[1::3], targets[2::3]):
        for own_name, source in _networks():
            if own_name == name:
                where = (source, address, int(port))
                call = threading.Thread(target=_call, args=(found, name, where, token, host))
                call.start()
                calls.append(call)
    for call in calls:
        call.join()
    return [name for name, _ in _networks() if name in found]


def _call(found: List[str], name: str, where: Tuple[str, str, int], token: str, host: str) -> None:
    source, address, port = where
    try:
        with socket.create_connection((address, port), SECONDS, (source, 0)) as peer:
            nonce = _receive(peer, _NONCE)
            mine = os.urandom(_NONCE)
            peer.sendall(mine + _proof(token, b"dial", nonce, mine))
            if _receive(peer, _DIGEST) == _proof(token, b"answer", mine, nonce, host.encode()):
                found.append(name)
    except OSError:
        pass
