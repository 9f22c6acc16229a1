"""What every program of a rank begins with: a running engine, and who this is."""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import os
import pathlib
import time

import torch

from horovodx.library import library_path

# Before the launcher's deadline: says where it hangs.
SECONDS = float(os.environ["HVDX_TEST_SECONDS"])
faulthandler.dump_traceback_later(0.9 * SECONDS, exit=True)
torch.set_num_threads(1)
engine = ctypes.CDLL(library_path())
engine.horovod_init.restype = ctypes.c_bool
assert engine.horovod_init(None, 0, None, None, 0)
atexit.register(engine.horovod_shutdown)
RANK: int = engine.horovod_rank()
SIZE: int = engine.horovod_size()


def wait_for_file(path: pathlib.Path, seconds: float = 0.8 * SECONDS) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not come"
        time.sleep(0.002)
