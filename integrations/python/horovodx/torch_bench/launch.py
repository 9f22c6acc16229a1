"""How long horovodrun takes to start ranks, against starting the same interpreters by hand."""

import argparse
import subprocess
import sys
from typing import List

from horovodx.torch_bench.measure import median, timed, write_json


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--ranks", type=int, default=4, help="processes (4)")
    parser.add_argument("--turns", type=int, default=7, help="each is timed so often, in turns (7)")


def _by_hand(count: int) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", "import torch"]) for _ in range(count)
    ]
    if any([process.wait() for process in processes]):
        raise RuntimeError("an interpreter failed")


def _horovodrun(count: int) -> None:
    script = "import horovod.torch as hvd; hvd.init()"
    command = [sys.executable, "-m", "horovod.runner.launch", "-np", str(count)]
    subprocess.run([*command, sys.executable, "-c", script], check=True)


def run(options: argparse.Namespace) -> None:
    """In this process."""
    ours: List[float] = []
    plain: List[float] = []
    _by_hand(options.ranks)
    for _ in range(options.turns):
        plain.append(timed(lambda: _by_hand(options.ranks)))
        ours.append(timed(lambda: _horovodrun(options.ranks)))
    print(f"{options.ranks} interpreters that import torch:   {median(plain):.2f} s")
    print(f"horovodrun, import horovod.torch, init(): {median(ours):.2f} s")
    print(f"ratio: {median(ours) / median(plain):.2f}")
    if options.json:
        write_json(options.json, {"plain_seconds": plain, "horovodrun_seconds": ours})
