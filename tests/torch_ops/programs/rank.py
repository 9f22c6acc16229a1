"""What every program of a rank begins with: a running engine, and who this is."""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import pathlib
import time

import torch

from horovodx.library import library_path

# Before the launcher's deadline: says where it hangs.
faulthandler.dump_traceback_later(220, exit=True)
torch.set_num_threads(1)
engine = ctypes.CDLL(library_path())
engine.horovod_init.restype = ctypes.c_bool
assert engine.horovod_init(None, 0, None, None, 0)
atexit.register(engine.horovod_shutdown)
RANK: int = engine.horovod_rank()
SIZE: int = engine.horovod_size()


def wait_for_file(path: pathlib.Path, seconds: float = 150.0) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not come"
        time.sleep(0.002)
