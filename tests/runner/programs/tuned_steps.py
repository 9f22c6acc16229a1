"""A worker: steps like those of training while settings are tuned; then whether that is over."""

import json
import os

import numpy

from horovod.common.basics import HorovodBasics
from horovodx import _horovodx

FLOAT32, ALLREDUCE = 7, 0
STEPS, REST = int(os.environ["STEPS"]), 50

hvd = HorovodBasics(None)
hvd.init()
rank, size = hvd.rank(), hvd.size()


def train(steps: range) -> None:
    """Sums that are exact, so that any way of adding up gives them."""
    for step in steps:
        tensors = [numpy.full(count, rank + step, numpy.float32) for count in (1, 1001, 20_003)]
        handles = [
            _horovodx.submit(ALLREDUCE, f"t{i}", FLOAT32, x.shape, x.ctypes.data, x.ctypes.data)
            for i, x in enumerate(tensors)
        ]
        _horovodx.wait_all(handles)
        _horovodx.release_all(handles)
        total = size * (size - 1) / 2 + size * step
        assert all((x == total).all() for x in tensors), (step, total)


train(range(STEPS))
before = _horovodx.counter("plans_started")
train(range(STEPS, STEPS + REST))
facts = {"rank": rank, "plans": [before, _horovodx.counter("plans_started")]}
hvd.shutdown()
print(json.dumps(facts))
