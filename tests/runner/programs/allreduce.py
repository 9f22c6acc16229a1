"""A worker: sums rank + 1 over all ranks by the engine's C ABI, and prints what it got."""

import ctypes

import numpy

from horovodx import _horovodx
from horovodx.library import library_path

FLOAT32, ALLREDUCE, SUM = 7, 0, 1

engine = ctypes.CDLL(library_path())
if not engine.horovod_init(None, 0, None, None, 0) & 0xFF:
    raise SystemExit(f"init failed: {_horovodx.last_error()}")
rank, size = engine.horovod_rank(), engine.horovod_size()
x = numpy.full(1000, rank + 1, dtype=numpy.float32)
address = x.ctypes.data
_horovodx.run(ALLREDUCE, "x", FLOAT32, [1000], address, address, op=SUM)
assert (x == size * (size + 1) / 2).all(), x
local = f"{engine.horovod_local_rank()}/{engine.horovod_local_size()}"
cross = f"{engine.horovod_cross_rank()}/{engine.horovod_cross_size()}"
print(f"rank {rank} of {size} local {local} cross {cross} sum {x[0]:g}")
engine.horovod_shutdown()
