"""Rank 0 waits for rank 1, which is late: others run meanwhile, and Ctrl-C is heard.

interrupt.py FOLDER
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import threading
import time

import torch
from rank import RANK, wait_for_file

from horovodx import torch_ops

SUM = 1
heard = pathlib.Path(sys.argv[1], "heard")


def interrupt_once_waiting(turns: list[int]) -> None:
    # This thread gets on only while rank 0 waits without the GIL.
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        turns[0] += 1
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def wait_in_vain() -> None:
    turns = [0]
    threading.Thread(target=interrupt_once_waiting, args=(turns,)).start()
    try:
        try:
            torch_ops.allreduce(torch.ones(1000), "late", SUM)
        except RuntimeError as error:
            assert "interrupted" in str(error), error
            time.sleep(1)  # KeyboardInterrupt comes as soon as Python runs again
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        pass
    assert turns[0] > 10, turns


if RANK == 0:
    wait_in_vain()
    heard.touch()
else:
    wait_for_file(heard)
    torch_ops.allreduce(torch.ones(1000), "late", SUM)
# The name is free again, and the memory of the first was not taken away too early.
assert torch_ops.allreduce(torch.ones(1000), "late", SUM).eq(2.0).all()
