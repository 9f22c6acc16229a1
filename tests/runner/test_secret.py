"""The job's secret reaches the workers, and nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Callable

from conftest import Run, processes_with, wait_until

SAY_AND_STAY = "import os, time; print(os.environ['HOROVODX_SECRET'], flush=True); time.sleep(1000)"


def command_lines() -> bytes:
    lines = b""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    lines += file.read() + b"\n"
            except OSError:
                continue
    return lines


def test_no_command_line_shows_it(start: Callable[..., subprocess.Popen[str]], mark: str) -> None:
    name, value = mark.split("=")
    job = start("-np", "2", sys.executable, "-c", SAY_AND_STAY, env={name: value})
    assert job.stdout is not None
    secret = job.stdout.readline().strip().partition(":")[2]
    assert len(secret) == 64
    wait_until(lambda: len(processes_with(mark)) >= 4, "workers")
    assert secret.encode() not in command_lines()


def test_verbose_does_not_log_it(run: Run) -> None:
    program = "import os; print(os.environ['HOROVODX_' + 'SECRET'])"
    done = run("-np", "1", "--verbose", sys.executable, "-c", program)
    lines = done.stdout.splitlines()
    (secret,) = (line.partition("<stdout>:")[2] for line in lines if line.startswith("[0]"))
    others = "\n".join(line for line in lines if not line.startswith("[0]")) + done.stderr
    assert "HOROVOD_RANK=0" in others
    assert len(secret) == 64 and secret not in others
    assert "HOROVODX_SECRET" not in others


def test_an_inherited_secret_is_not_used_again(run: Run) -> None:
    old = "ab" * 32
    done = run(
        "-np", "1", sys.executable, "-c", "import os; print(os.environ['HOROVODX_SECRET'])",
        env={"HOROVODX_SECRET": old},
    )  # fmt: skip
    assert old not in done.stdout


def test_the_rendezvous_listens_on_one_address_only(
    start: Callable[..., subprocess.Popen[str]], mark: str
) -> None:
    name, value = mark.split("=")
    show = "echo $HOROVOD_GLOO_RENDEZVOUS_PORT; exec sleep 1000"
    job = start("-np", "1", "sh", "-c", show, env={name: value})
    assert job.stdout is not None
    port = int(job.stdout.readline().partition(":")[2])
    with open("/proc/net/tcp", encoding="ascii") as file:
        listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
    (address,) = (a for a in listening if int(a.partition(":")[2], 16) == port)
    assert address.startswith("0100007F:")  # 127.0.0.1
