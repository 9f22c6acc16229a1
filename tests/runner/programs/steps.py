"""A worker: steps like those of training, long enough for a plan; then what its clocks say."""

import json
import time

import numpy

from horovod.common.basics import HorovodBasics
from horovodx import _horovodx

FLOAT32, ALLREDUCE = 7, 0
STEPS = 60

hvd = HorovodBasics(None)
hvd.init()
rank, size = hvd.rank(), hvd.size()
for step in range(STEPS):
    tensors = [numpy.full(count, rank + step, numpy.float32) for count in (1, 1001, 50_003)]
    handles = [
        _horovodx.submit(ALLREDUCE, f"t{i}", FLOAT32, x.shape, x.ctypes.data, x.ctypes.data)
        for i, x in enumerate(tensors)
    ]
    _horovodx.wait_all(handles)
    _horovodx.release_all(handles)
    total = size * (size - 1) / 2 + size * step
    assert all((x == total).all() for x in tensors), (step, total)
facts = {
    "rank": rank,
    "wall": [time.time() for _ in range(8)],
    "monotonic": time.monotonic(),
    "plans": _horovodx.counter("plans_started"),
}
hvd.shutdown()
print(json.dumps(facts))
