"""The handshake as horovodx/base/README.md has it, for those who are not supposed to pass it."""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import struct

STORE, COURIER, LINK = 1, 2, 3
CHALLENGE_BYTES, HELLO_BYTES, VERDICT_BYTES = 40, 136, 40
_VERSION = 1


def read_exactly(sock: socket.socket, count: int) -> bytes:
    """So many bytes; fewer if the other end has closed."""
    data = b""
    while len(data) < count:
        piece = sock.recv(count - len(data))
        if not piece:
            break
        data += piece
    return data


def hello(
    challenge: bytes,
    secret: bytes,
    job_id: str,
    purpose: int = STORE,
    sender: int = 0,
    to: int = -1,
    streams: int = 0,
) -> bytes:
    """A connector's answer to a challenge."""
    job = hashlib.sha256(job_id.encode()).digest()
    claims = struct.pack("<BBiiIHH", purpose, 0, sender, to, 0, 0, streams)
    theirs, mine = challenge[8:40], os.urandom(32)
    who = b"HVDX connector" + struct.pack("<H", _VERSION)
    proof = hmac.new(secret, who + claims + job + theirs + mine, "sha256").digest()
    return b"HVDX" + struct.pack("<H", _VERSION) + claims + job[:16] + theirs + mine + proof


def frame(tag: int, content: bytes, claimed: int | None = None) -> bytes:
    """A frame; `claimed`: the length it says it has."""
    return struct.pack("<II", len(content) if claimed is None else claimed, tag) + content


def knock(address: tuple[str, int], seconds: float = 10.0) -> tuple[socket.socket, bytes]:
    """A connection, and the challenge that greets it."""
    sock = socket.create_connection(address, seconds)
    return sock, read_exactly(sock, CHALLENGE_BYTES)
