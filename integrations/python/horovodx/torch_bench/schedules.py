"""Training steps under each schedule, and as 25 MiB buckets over gloo, between the same ranks.

A step is a forward pass, then gradients that become ready one after the other. Both are slept, as
if an accelerator computed: the cores are free for communication. Each way gets the engine to
itself and steps to learn from, then steps that count; the ways take turns. Times are of whole
steps, of the slowest rank.

A way is a schedule, with variables behind it if any: `optimal+HOROVODX_SEGMENT=1048576`. `autotune`
is what HOROVOD_AUTOTUNE makes of the engine's own settings, after `--tuning` steps.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

from horovodx.torch_bench import ranks
from horovodx.torch_bench.measure import median, slowest, write_json
from horovodx.torch_bench.workloads import WORKLOADS, Arrivals, workload_named

_SCHEDULES = ("wfbp", "fusion", "mgwfbp", "optimal", "buckets")
_GLOO = "gloo"
_AUTOTUNE = "autotune"
_BUCKET_BYTES = 25 << 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=0, help="ranks; those of the job if not given")
    parser.add_argument("--workload", choices=sorted(WORKLOADS), default="resnet50")
    parser.add_argument("--ways", default=",".join((*_SCHEDULES, _GLOO)), help="by comma; all")
    parser.add_argument("--turns", type=int, default=2, help="how often each way comes (2)")
    parser.add_argument("--warmup", type=int, default=6, help="steps to learn from, a turn (6)")
    parser.add_argument("--tuning", type=int, default=600, help="the same for autotune (600)")
    parser.add_argument("--steps", type=int, default=5, help="steps that count, a turn (5)")


def _variables(way: str) -> dict[str, str | None]:
    """Of the environment, for a way; None: not set."""
    name, *more = way.split("+")
    tuned = name == _AUTOTUNE
    variables: dict[str, str | None] = {
        "HOROVODX_SCHEDULE": None if tuned else name,
        "HOROVOD_AUTOTUNE": "1" if tuned else None,
    }
    for word in more:
        key, _, value = word.partition("=")
        variables[key] = value
    return variables


@contextlib.contextmanager
def _environment(variables: dict[str, str | None]) -> Iterator[None]:
    """With these variables, as long as it lasts."""
    before = {name: os.environ.get(name) for name in variables}
    try:
        _set_all(variables)
        yield
    finally:
        _set_all(before)


def _set_all(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class _Step:
    """The memory of a step's gradients: one after the other in the order they become ready."""

    def __init__(self, workload: Any) -> None:
        import torch

        layers = workload.arriving()
        self.sizes = [layer.bytes // 4 for layer in layers]
        self.flat = torch.zeros(sum(self.sizes))
        self.gradients = list(self.flat.split(self.sizes))
        self.arrivals = Arrivals(workload)

    def fill(self, rank: int) -> None:
        for i, gradient in enumerate(self.gradients):
            gradient.fill_(float(rank + i % 7))

    def check(self, size: int, when: str) -> None:
        for i, gradient in enumerate(self.gradients):
            expected = (size - 1) / 2 + i % 7
            if any(abs(float(gradient[at]) - expected) > 1e-3 for at in (0, -1)):
                raise RuntimeError(f"wrong average in gradient {i}, {when}: {gradient[0]}")


class _Engine:
    """HorovodX: gradients are submitted by slot, as DistributedOptimizer does."""

    learns = True

    def __init__(self, hvd: Any, way: str, step: _Step) -> None:
        from horovodx import _horovodx as native

        self._native, self._hvd, self._step = native, hvd, step
        hvd.shutdown()
        with _environment(_variables(way)):
            hvd.init()
        kind, float32, average = 0, 7, 0
        self._slots = []
        for i, g in enumerate(step.gradients):
            slot = native.register_slot(kind, f"step.{i}", float32, list(g.shape), average)
            self._slots.append((slot, g.data_ptr()))

    def run(self) -> None:
        submit = self._native.submit_slot
        handles = []
        for i in self._step.arrivals:
            slot, address = self._slots[i]
            handles.append(submit(slot, address, address))
        self._native.wait_all(handles)
        self._native.release_all(handles)

    def control_messages(self) -> int:
        return self._native.counter("control_messages")


class _Gloo:
    """Buckets as DDP has them with gradient_as_bucket_view: no copies."""

    learns = False

    def __init__(self, dist: Any, step: _Step) -> None:
        self._dist, self._step = dist, step
        self._buckets: dict[int, Any] = {}  # by the gradient that completes it
        begin = at = 0
        for i, elements in enumerate(step.sizes):
            at += elements
            if 4 * (at - begin) >= _BUCKET_BYTES or i == len(step.sizes) - 1:
                self._buckets[i] = step.flat[begin:at]
                begin = at

    def run(self) -> None:
        works = []
        for i in self._step.arrivals:
            if i in self._buckets:
                works.append(self._dist.all_reduce(self._buckets[i], async_op=True))
        for work in works:
            work.wait()
        self._step.flat.div_(self._dist.get_world_size())

    def control_messages(self) -> int:
        return 0


def _turn(
    hvd: Any, way: Any, step: _Step, learning: int, options: Any
) -> tuple[list[float], float]:
    """Seconds of each step that counts, and control messages a step."""
    step.fill(hvd.rank())
    for i in range(learning if way.learns else 1):
        way.run()
        if i == 0:
            step.check(hvd.size(), "first step")
    before = way.control_messages()
    times = []
    for _ in range(options.steps):
        start = time.perf_counter()
        way.run()
        times.append(time.perf_counter() - start)
    messages = (way.control_messages() - before) / options.steps
    # One step more, from other data: who is first through would else end the plan of the others
    # before they have counted.
    step.fill(hvd.rank())
    way.run()
    step.check(hvd.size(), "last step")
    return slowest(hvd, times), slowest(hvd, [messages])[0]


def run(options: argparse.Namespace) -> None:
    """On every rank."""
    from horovodx.costs import allreduce_cost

    hvd = ranks.init()
    ways = options.ways.split(",")
    workload = workload_named(options.workload)
    dist = ranks.init_gloo(hvd) if _GLOO in ways else None
    step = _Step(workload)
    ranks.say(
        hvd,
        f"{workload.name}: {len(workload.layers)} gradients, {workload.bytes / 1e6:.1f} MB, "
        f"forward {workload.forward * 1e3:.0f} ms, backward {workload.backward * 1e3:.0f} ms; "
        f"{hvd.size()} ranks on {hvd.cross_size()} hosts",
    )
    found: dict[str, dict[str, Any]] = {w: {"seconds": [], "control_messages": []} for w in ways}
    for turn in range(options.turns):
        for name in ways:
            way = _Gloo(dist, step) if name == _GLOO else _Engine(hvd, name, step)
            learning = options.tuning if name.startswith(_AUTOTUNE) else options.warmup
            times, messages = _turn(hvd, way, step, learning, options)
            found[name]["seconds"] += times
            found[name]["control_messages"].append(messages)
            if name == "optimal" and (cost := allreduce_cost()):
                found[name]["cost"] = cost._asdict()
            text = " ".join(f"{t * 1e3:.1f}" for t in times) + " ms"
            ranks.say(hvd, f"turn {turn + 1}: {name:>8}: {text}, {messages:.1f} control messages")
    _show(hvd, found)
    if options.json and hvd.rank() == 0:
        about = {"ranks": hvd.size(), "hosts": hvd.cross_size(), "workload": options.workload}
        write_json(options.json, {**about, "ways": found})
    hvd.barrier()


def _show(hvd: Any, found: dict[str, dict[str, Any]]) -> None:
    best = min(median(way["seconds"]) for way in found.values())
    width = max(10, *map(len, found))
    ranks.say(hvd, f"{'way':>{width}}{'ms a step':>12}{'of the best':>13}{'control messages':>18}")
    for name, way in found.items():
        middle = median(way["seconds"])
        messages = median(way["control_messages"])
        row = f"{middle * 1e3:>12.1f}{middle / best:>13.3f}{messages:>18.1f}"
        ranks.say(hvd, f"{name:>{width}}{row}")
