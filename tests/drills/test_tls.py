"""Jobs with HOROVODX_TLS=1: they work, their tensors are not on the wire, mistakes are named."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from launchers import horovodrun_path  # noqa: E402
from tls_rank import MARK  # noqa: E402

_SECONDS = 200
_HERE = Path(__file__).parent
_ALL_PROTOCOLS = 3  # ETH_P_ALL
# The beginning of a tensor of rank 0, as it lies in memory.
_PATTERN = struct.pack("<3i", MARK, 0, 0)


def run(size: int, **settings: str) -> subprocess.CompletedProcess[str]:
    """A job of tls_rank.py."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("HOROVOD", "TLS_"))}
    return subprocess.run(
        [horovodrun_path(), "-np", str(size), sys.executable, str(_HERE / "tls_rank.py")],
        env={**environ, "PYTHONDONTWRITEBYTECODE": "1", **settings},
        capture_output=True, text=True, check=False, timeout=_SECONDS,
    )  # fmt: skip


class Listener:
    """Looks for a pattern in all that passes the loopback interface while inside of a `with`."""

    def __init__(self) -> None:
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS)
        )
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        self._socket.bind(("lo", 0))
        self._socket.settimeout(0.1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self.packets = self.found = 0

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                packet = self._socket.recv(1 << 17)
            except TimeoutError:
                continue
            self.packets += 1
            self.found += _PATTERN in packet

    def __enter__(self) -> Listener:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()


@pytest.mark.parametrize("size", [2, 3])
def test_sums_are_right_and_not_on_the_wire(size: int) -> None:
    found = {}
    for tls in "01":
        try:
            listener = Listener()
        except PermissionError:
            pytest.skip("only root may listen to the network")
        with listener:
            done = run(size, HOROVODX_TRANSPORT="tcp", HOROVODX_TLS=tls, HOROVODX_STREAMS=str(size))
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("all sums are right") == size
        assert listener.packets > 100
        found[tls] = listener.found
    assert found["0"] > 0, "else the other number proves nothing"
    assert found["1"] == 0


def test_ranks_that_share_memory_have_it_too() -> None:
    """Their control messages go over TCP."""
    done = run(2, HOROVODX_TLS="1")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("odd", [0, 2])
def test_a_rank_without_it_is_named_on_every_rank(odd: int) -> None:
    done = run(3, HOROVODX_TLS="1", TLS_NOT_ON=str(odd))
    assert done.returncode != 0
    text = (
        f"HOROVODX_TLS=1 is set on rank {1 if odd == 0 else 0} but not on rank {odd}: "
        "it must be set on all ranks or on none"
    )
    assert text in done.stderr, done.stderr


def test_what_is_missing_is_said() -> None:
    done = run(2, HOROVODX_TLS="1", HOROVODX_TLS_LIBRARY="/nowhere/libssl.so.3")
    assert done.returncode != 0
    assert "HOROVODX_TLS=1 needs OpenSSL" in done.stderr
    assert "/nowhere/libssl.so.3" in done.stderr
