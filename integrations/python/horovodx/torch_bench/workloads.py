"""Training steps to measure with: sizes of gradients, and when each is ready.

ResNet-50 and BERT-base come from the simulator's tables, on a device that sustains 1.9 Tflop/s: an
NVIDIA K80, which trains 77 images a second of ResNet-50.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from horovodx.sim.models import bert_base, resnet50
from horovodx.sim.workload import Layer, Workload, of_model

_FLOPS = 1.9e12
_BATCH = 32


def _resnet50() -> Workload:
    return of_model(resnet50(), _BATCH, 4, _FLOPS)


def _bert_base() -> Workload:
    return of_model(bert_base(), _BATCH, 4, _FLOPS)


def _small() -> Workload:
    layers = [Layer(f"{i}", 20e-6, 4 * (256 + (i * 2654435761) % 3841)) for i in range(1000)]
    return Workload("1,000 small", 0.010, layers)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "resnet50": _resnet50,
    "bert_base": _bert_base,
    "small": _small,
}


def workload_named(name: str) -> Workload:
    """One of WORKLOADS."""
    return WORKLOADS[name]()


class Arrivals:
    """Sleeps through a step: yields the number of each gradient when it is ready."""

    def __init__(self, workload: Workload) -> None:
        at = workload.forward
        self._ready = []
        for layer in workload.arriving():
            at += layer.backward
            self._ready.append(at)

    def __iter__(self) -> Iterator[int]:
        start = time.perf_counter()
        for i, ready in enumerate(self._ready):
            wait = start + ready - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            yield i
