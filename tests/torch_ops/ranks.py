"""Runs a program as several ranks on this machine, with a deadline.

    run_ranks(program, size, arguments)

Each rank is `python program arguments...`. If one fails or the deadline passes, all are killed and
the output of every rank is in the error.
"""

from __future__ import annotations

import os
import pathlib
import secrets
import signal
import subprocess
import sys
import tempfile
import time

from horovodx import _horovodx

# Compiling takes long on a busy machine.
SECONDS = float(os.environ.get("HVDX_TEST_SECONDS", "240"))


def _environment(rank: int, size: int, port: int, secret: str, job: str) -> dict[str, str]:
    return {
        **os.environ,
        "HOROVOD_RANK": str(rank),
        "HOROVOD_SIZE": str(size),
        "HOROVOD_LOCAL_RANK": str(rank),
        "HOROVOD_LOCAL_SIZE": str(size),
        "HOROVOD_CROSS_RANK": "0",
        "HOROVOD_CROSS_SIZE": "1",
        "HOROVOD_HOSTNAME": "localhost",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port),
        "HOROVODX_SECRET": secret,
        "HOROVODX_JOB_ID": job,
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "1",
        "HVDX_TEST_SECONDS": str(SECONDS),
    }


def _wait(processes: list[subprocess.Popen[bytes]], seconds: float) -> str:
    """Why it did not go well; empty if it did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        codes = [process.poll() for process in processes]
        for rank, code in enumerate(codes):
            if code not in (None, 0):
                time.sleep(0.5)  # the others may have something to say, too
                return f"rank {rank} ended with {code}"
        if all(code == 0 for code in codes):
            return ""
        time.sleep(0.02)
    return f"not finished after {seconds} s"


def _kill(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_ranks(
    program: pathlib.Path, size: int, arguments: tuple[str, ...] = (), seconds: float = SECONDS
) -> None:
    secret, job = secrets.token_hex(32), secrets.token_hex(4)
    port = _horovodx.rendezvous_start("127.0.0.1", 0, secret, job)
    processes: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        outputs = [pathlib.Path(folder, f"rank{rank}") for rank in range(size)]
        try:
            for rank, output in enumerate(outputs):
                with output.open("wb") as file:
                    processes.append(
                        subprocess.Popen(
                            [sys.executable, str(program), *arguments],
                            env=_environment(rank, size, port, secret, job),
                            stdout=file,
                            stderr=subprocess.STDOUT,
                            start_new_session=True,
                        )
                    )
            failure = _wait(processes, seconds)
        finally:
            _kill(processes)
            _horovodx.rendezvous_stop()
        if failure:
            said = "\n".join(
                f"--- rank {rank}\n{output.read_text(errors='replace')[-6000:]}"
                for rank, output in enumerate(outputs)
            )
            raise AssertionError(f"{program.name}: {failure}\n{said}")
