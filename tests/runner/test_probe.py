"""The probe of networks (horovod/runner/agent/probe.py), and those who do not know its token."""

from __future__ import annotations

import multiprocessing
import os
import socket
from typing import Iterator

import pytest

from horovod.runner.agent import probe

Place = tuple[str, str, int]
SILENT = 40  # one by one, each would have taken its second, and a dial has five


@pytest.fixture
def place() -> Iterator[Place]:
    """A host that listens: our address, its address and port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=probe.serve, args=([listener], "token", "node7"), daemon=True)
    process.start()
    port = listener.getsockname()[1]
    listener.close()
    yield "127.0.0.1", "127.0.0.1", port
    assert process.is_alive(), "nothing that a caller says ends it"
    process.kill()
    process.join()


def answers(place: Place, token: str = "token", host: str = "node7") -> bool:
    found: list[str] = []
    probe._call(found, "eth0", place, token, host)
    return found == ["eth0"]


def dial(place: Place) -> socket.socket:
    return socket.create_connection(place[1:], 10)


def test_who_knows_the_token_hears_which_host_it_is(place: Place) -> None:
    assert answers(place)
    assert not answers(place, host="node8")
    assert not answers(place, token="another")


def test_a_wrong_proof_gets_nothing_but_the_nonce(place: Place) -> None:
    with dial(place) as sock, sock.makefile("rb") as file:
        sock.sendall(os.urandom(48))
        assert len(file.read()) == 16


@pytest.mark.parametrize(
    "said", [b"", b"x", os.urandom(47)], ids=["silence", "a byte", "too little"]
)
def test_many_who_wait_do_not_keep_anybody_waiting(place: Place, said: bytes) -> None:
    held = [dial(place) for _ in range(SILENT)]
    for sock in held:
        sock.sendall(said)
    assert answers(place)
    for sock in held:
        sock.close()


def test_garbage_does_not_disturb_it(place: Place) -> None:
    for noise in (os.urandom(100_000), b"\xff" * 48, b"GET / HTTP/1.1\r\n\r\n"):
        with dial(place) as sock:
            try:
                sock.sendall(noise)
            except OSError:
                pass  # shown the door
    assert answers(place)


def test_of_too_many_the_oldest_goes(place: Place) -> None:
    oldest = dial(place)
    held = [dial(place) for _ in range(probe.MOST_CALLERS)]
    assert answers(place)
    oldest.settimeout(2)  # sooner than its time is up
    with oldest.makefile("rb") as file:
        assert len(file.read()) == 16
    for sock in [oldest, *held]:
        sock.close()
