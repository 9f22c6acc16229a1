"""Training with and without split_allreduce, in turns: seconds a step, and their ratio.

Between hosts: horovodrun -np 4 -H ... env HVDX_BENCH_IS_RANK=1 hvdx-bench --torch split
"""

import argparse
import time
from typing import Any, Callable, Dict, List

from horovodx.torch_bench import ranks
from horovodx.torch_bench.measure import median, slowest, timed, write_json

WHOLE, SPLIT, ALONE = "whole", "split", "not distributed"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=2, help="ranks (2)")
    parser.add_argument("--layers", type=int, default=10, help="of width x width (10)")
    parser.add_argument("--width", type=int, default=512, help="a layer (512: 1 MiB of gradients)")
    parser.add_argument("--batch-size", type=int, default=128, help="rows a rank and step (128)")
    parser.add_argument(
        "--wait", type=float, default=0.0, metavar="MS", help="that forward waits as well (0)"
    )
    parser.add_argument("--blocks", type=int, default=5, help="each is timed so often, in turns")
    parser.add_argument("--steps", type=int, default=10, help="steps in a block (10)")
    parser.add_argument("--settle", type=int, default=12, help="steps before each block (12)")


def _perceptron(layers: int, width: int, seconds: float) -> Any:
    """Many gradients for the time they take, as models are for which networks are slow.

    Forward waits for `seconds`, backward twice as long: so does a process with an accelerator.
    """
    import torch
    from torch import nn

    class Wait(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            time.sleep(seconds / layers)
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, *gradient: Any) -> Any:
            time.sleep(2 * seconds / layers)
            return gradient[0]

    class Waiting(nn.Module):
        def forward(self, x: Any) -> Any:
            return Wait.apply(x) if seconds else x

    return nn.Sequential(
        *(nn.Sequential(nn.Linear(width, width), Waiting(), nn.ReLU()) for _ in range(layers))
    )


def _trainer(hvd: Any, options: argparse.Namespace, kind: str) -> Any:
    """One step, and what ends the last one."""
    import torch

    model = _perceptron(options.layers, options.width, options.wait / 1e3)
    optimizer: Any = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if kind != ALONE:
        hvd.broadcast_parameters(model.state_dict(), 0)
        optimizer = hvd.DistributedOptimizer(
            optimizer, model.named_parameters(), split_allreduce=kind == SPLIT
        )
    rows = torch.randn(options.batch_size, options.width)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(rows), rows).backward()
        optimizer.step()

    megabytes = sum(p.numel() for p in model.parameters()) * 4e-6
    return step, getattr(optimizer, "flush", lambda: None), megabytes


def run(options: argparse.Namespace) -> None:
    """On every rank."""
    import torch

    from horovodx import _horovodx as native

    hvd = ranks.init()
    torch.set_num_threads(1)
    trainers = {kind: _trainer(hvd, options, kind) for kind in (WHOLE, SPLIT, ALONE)}
    times: Dict[str, List[float]] = {kind: [] for kind in trainers}
    messages = {kind: 0 for kind in trainers}
    for _ in range(options.blocks):
        for kind, (step, flush, _) in trainers.items():
            hvd.shutdown()  # a plan that ends soon makes the next one come late: both start afresh
            hvd.init()
            for _ in range(options.settle if kind != ALONE else 1):
                step()
            flush()  # and no barrier: it is in no plan, and would end this one
            asked = native.counter("control_messages_sent")
            times[kind].append(timed(_several(step, flush, options.steps)) / options.steps)
            messages[kind] += native.counter("control_messages_sent") - asked
    seconds = {kind: median(slowest(hvd, values)) for kind, values in times.items()}
    gain = [w / s for w, s in zip(slowest(hvd, times[WHOLE]), slowest(hvd, times[SPLIT]))]
    ranks.say(
        hvd,
        f"{options.layers} layers, {trainers[SPLIT][2]:.1f} MB of gradients, batch "
        f"{options.batch_size} a rank, forward and backward wait for {3 * options.wait:g} ms, "
        f"{hvd.size()} ranks; a step takes",
    )
    for kind, value in seconds.items():
        ranks.say(
            hvd, f"{kind:>18}: {value * 1e3:9.1f} ms; {messages[kind]} control messages of rank 0"
        )
    ranks.say(
        hvd,
        f"whole / split: {median(gain):.3f} (from {min(gain):.3f} to {max(gain):.3f})",
    )
    if options.json and hvd.rank() == 0:
        write_json(options.json, {"ranks": hvd.size(), "seconds": seconds, "ratios": gain})
    hvd.barrier()


def _several(step: Callable[[], None], flush: Callable[[], None], count: int) -> Callable[[], None]:
    def work() -> None:
        for _ in range(count):
            step()
        flush()

    return work
