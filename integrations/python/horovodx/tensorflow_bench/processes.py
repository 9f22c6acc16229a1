"""Starts the processes of a benchmark and has them run blocks, one group at a time."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from typing import Any, Dict, Iterator, List

_SECONDS = 300.0  # for a block, and for the first one, which starts TensorFlow


class Group:
    """Processes that work together."""

    def __init__(self, name: str, processes: List[Any]) -> None:
        self._name = name
        self._processes = processes

    def block(self, way: str, steps: int) -> float:
        """Seconds that a step of a block took on the slowest process."""
        for process in self._processes:
            process.stdin.write(json.dumps({"way": way, "steps": steps}) + "\n")
            process.stdin.flush()
        killers = [threading.Timer(_SECONDS, process.kill) for process in self._processes]
        for killer in killers:
            killer.start()
        try:
            return max(self._answer(process) for process in self._processes)
        finally:
            for killer in killers:
                killer.cancel()

    def _answer(self, process: Any) -> float:
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            process.errors.seek(0)
            last = "".join(process.errors.readlines()[-20:])
            raise RuntimeError(f"{self._name}: a process ended with code {code}\n{last}")
        return float(json.loads(line)["seconds"])

    def end(self) -> None:
        """Lets all end, then makes them."""
        for process in self._processes:
            process.stdin.close()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _quiet() -> Dict[str, str]:
    return dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")


def _start(peer: List[str], rank: int, size: int, products: int, environment: Any) -> Any:
    command = [sys.executable, "-m", "horovodx.tensorflow_bench.peers", *peer]
    errors = tempfile.TemporaryFile("w+")  # TensorFlow says a lot; shown if it fails
    process: Any = subprocess.Popen(
        [*command, f"--rank={rank}", f"--size={size}", f"--products={products}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env=environment,
    )
    process.errors = errors
    return process


@contextlib.contextmanager
def horovodx(size: int, products: int) -> Iterator[Group]:
    """Ranks of HorovodX on this machine."""
    from horovodx import _horovodx as native

    secret, job = secrets.token_hex(32), f"bench-{os.getpid()}"
    port = native.rendezvous_start("127.0.0.1", 0, secret, job)
    common = dict(
        _quiet(),
        HOROVODX_SECRET=secret,
        HOROVODX_JOB_ID=job,
        HOROVOD_GLOO_RENDEZVOUS_ADDR="127.0.0.1",
        HOROVOD_GLOO_RENDEZVOUS_PORT=str(port),
        HOROVOD_SIZE=str(size),
    )
    ranks = [
        _start(["horovodx"], rank, size, products, dict(common, HOROVOD_RANK=str(rank)))
        for rank in range(size)
    ]
    group = Group("HorovodX", ranks)
    try:
        yield group
    finally:
        group.end()
        native.rendezvous_stop()


def _free_ports(count: int) -> List[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextlib.contextmanager
def tf_distribute(size: int, products: int, pack_bytes: int = 0) -> Iterator[Group]:
    """Workers of MultiWorkerMirroredStrategy on this machine."""
    peer = ["tf.distribute", f"--pack-bytes={pack_bytes}"]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in _free_ports(size)]}
    workers = []
    for rank in range(size):
        task = {"cluster": cluster, "task": {"type": "worker", "index": rank}}
        environment = dict(_quiet(), TF_CONFIG=json.dumps(task))
        workers.append(_start(peer, rank, size, products, environment))
    group = Group("tf.distribute", workers)
    try:
        yield group
    finally:
        group.end()
