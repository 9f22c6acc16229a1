"""A training step's gradients that arrive over a time: what is left to wait for at its end.

HorovodX as scripts use it, a call for each gradient when it is there; against 25 MiB buckets over
gloo, filled in the order of arrival and sent when full, as DDP does it. The time between gradients
is slept: the cores are then free for communication, as with an accelerator.
"""

import argparse
import time
from typing import Any, Callable, Dict, List

from horovodx.torch_bench import ranks
from horovodx.torch_bench.measure import median, slowest, write_json

_BUCKET_BYTES = 25 << 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=2, help="ranks (2)")
    parser.add_argument("--steps", type=int, default=20, help="timed steps (20)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before that (10)")


def resnet50() -> List[int]:
    """Elements of the 161 gradients of ResNet-50, first layer first."""
    sizes: List[int] = []

    def conv(inside: int, outside: int, kernel: int) -> None:
        sizes.extend([inside * outside * kernel * kernel, outside, outside])

    conv(3, 64, 7)
    inside = 64
    for blocks, width in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for block in range(blocks):
            conv(inside, width, 1)
            conv(width, width, 3)
            conv(width, 4 * width, 1)
            if block == 0:
                conv(inside, 4 * width, 1)
            inside = 4 * width
    return [*sizes, 2048 * 1000, 1000]


def many_small() -> List[int]:
    """1,000 gradients of 1 to 16 KiB."""
    return [256 + (i * 2654435761) % 3841 for i in range(1000)]


class _Arrivals:
    """Makes gradients `ready` one after the other over a time, last layer first."""

    def __init__(self, gradients: List[Any], seconds: float) -> None:
        self._gradients = list(reversed(gradients))
        self._total = sum(g.numel() for g in gradients)
        self._seconds = seconds

    def __iter__(self) -> Any:
        start, sent = time.perf_counter(), 0
        for i, gradient in enumerate(self._gradients):
            sent += gradient.numel()
            wait = start + self._seconds * sent / self._total - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            yield i, gradient


def _horovodx(hvd: Any, arrivals: _Arrivals) -> float:
    handles = [hvd.allreduce_async_(g, name=f"step.{i}", op=hvd.Sum) for i, g in arrivals]
    last = time.perf_counter()
    for handle in handles:
        hvd.synchronize(handle)
    return time.perf_counter() - last


class _Buckets:
    """Gradients copied into flat buckets, each sent when its last gradient is there."""

    def __init__(self, dist: Any, gradients: List[Any]) -> None:
        import torch

        self._dist = dist
        self._place: Dict[int, Any] = {}
        self._flat: List[Any] = []
        self._left: List[int] = []
        bucket: List[Any] = []
        ordered = list(reversed(gradients))
        for i, gradient in enumerate(ordered):
            bucket.append((i, gradient))
            full = sum(4 * g.numel() for _, g in bucket) >= _BUCKET_BYTES
            if full or i == len(ordered) - 1:
                flat = torch.empty(sum(g.numel() for _, g in bucket))
                for (j, _), piece in zip(bucket, flat.split([g.numel() for _, g in bucket])):
                    self._place[j] = (len(self._flat), piece)
                self._flat.append(flat)
                self._left.append(len(bucket))
                bucket = []

    def step(self, arrivals: _Arrivals) -> float:
        """One step; seconds from the last gradient until all are back."""
        left, works, back = list(self._left), [], []
        for i, gradient in arrivals:
            bucket, piece = self._place[i]
            piece.copy_(gradient.view(-1))
            back.append((gradient, piece))
            left[bucket] -= 1
            if left[bucket] == 0:
                works.append(self._dist.all_reduce(self._flat[bucket], async_op=True))
        last = time.perf_counter()
        for work in works:
            work.wait()
        for gradient, piece in back:
            gradient.view(-1).copy_(piece)
        return time.perf_counter() - last


def _measure(hvd: Any, dist: Any, sizes: List[int], seconds: float, options: Any) -> List[float]:
    """Seconds exposed with HorovodX and with gloo, which take turns."""
    import torch

    gradients = [torch.empty(n) for n in sizes]
    buckets = _Buckets(dist, gradients)
    ways: List[Callable[[_Arrivals], float]] = [lambda a: _horovodx(hvd, a), buckets.step]
    times: List[List[float]] = [[], []]
    for turn in range(options.warmup + options.steps):
        for way, exposed in zip(ways, times):
            for gradient in gradients:
                gradient.fill_(float(turn + hvd.rank()))
            dist.barrier()
            exposed.append(way(_Arrivals(gradients, seconds)))
            expected = float(hvd.size() * turn + hvd.size() * (hvd.size() - 1) // 2)
            if any(g[0] != expected or g[-1] != expected for g in gradients):
                raise RuntimeError(f"wrong sum in step {turn}")
    return [median(slowest(hvd, exposed[options.warmup :])) for exposed in times]


def run(options: argparse.Namespace) -> None:
    """On every rank."""
    hvd = ranks.init()
    dist = ranks.init_gloo(hvd)
    ranks.say(hvd, f"time left exposed after the last gradient, {hvd.size()} ranks; ms, median")
    ranks.say(hvd, f"{'step':>28}{'HorovodX':>12}{'gloo 25 MiB':>14}{'ratio':>8}")
    rows: List[Dict[str, Any]] = []
    for name, sizes, seconds in (
        ("ResNet-50 over 20 ms", resnet50(), 0.020),
        ("ResNet-50 over 100 ms", resnet50(), 0.100),
        ("1,000 small over 20 ms", many_small(), 0.020),
    ):
        ours, other = _measure(hvd, dist, sizes, seconds, options)
        rows.append({"step": name, "horovodx": ours, "gloo": other})
        ranks.say(hvd, f"{name:>28}{ours * 1e3:>12.2f}{other * 1e3:>14.2f}{ours / other:>8.2f}")
    if options.json and hvd.rank() == 0:
        write_json(options.json, {"ranks": hvd.size(), "exposed_seconds": rows})
    hvd.barrier()
