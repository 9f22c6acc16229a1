"""What plain TCP reaches between two hosts: one connection, one way."""

from __future__ import annotations

import subprocess
import sys
import time

from ssh_hosts import SshHosts

_PROGRAM = """
import socket, sys, time
if sys.argv[1] == "receive":
    server = socket.create_server(("0.0.0.0", 5555))
    print("ready", flush=True)
    peer, _ = server.accept()
    room = bytearray(1 << 20)
    while peer.recv_into(room):
        pass
    peer.send(b"k")
else:
    peer = socket.create_connection((sys.argv[2], 5555))
    data, count = bytes(1 << 20), int(sys.argv[3])
    start = time.perf_counter()
    for _ in range(count):
        peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
    peer.recv(1)
    print(count * len(data) / (time.perf_counter() - start))
"""


def bytes_per_second(hosts: SshHosts, mebibytes: int) -> float:
    """From host 0 to host 1."""
    program = [sys.executable, "-c", _PROGRAM]
    receiver = hosts.popen(1, [*program, "receive"], stdout=subprocess.PIPE)
    try:
        assert receiver.stdout is not None
        receiver.stdout.readline()
        sent = hosts.run(0, [*program, "send", hosts.address(1), str(mebibytes)], timeout=120)
        return float(sent.stdout)
    finally:
        receiver.kill()
        receiver.wait()
        time.sleep(0.2)  # a token bucket fills again
