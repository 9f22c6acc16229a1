"""Training with and without split_allreduce, in turns: seconds a step, and their ratio.

Between hosts, for example: horovodrun -np 4 -H ... env HVDX_BENCH_IS_RANK=1 hvdx-bench --torch split
"""

import argparse
from typing import Any, Callable, Dict, List

from horovodx.torch_bench import ranks
from horovodx.torch_bench.measure import median, slowest, timed, write_json
from horovodx.torch_bench.small_resnet import batch, small_resnet

WHOLE, SPLIT, ALONE = "whole", "split", "not distributed"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=2, help="ranks (2)")
    parser.add_argument("--batch-size", type=int, default=16, help="images a rank and step (16)")
    parser.add_argument("--width", type=int, default=64, help="channels; 64 are 5 MB of gradients")
    parser.add_argument("--blocks", type=int, default=5, help="each is timed so often, in turns (5)")
    parser.add_argument("--steps", type=int, default=10, help="steps in a block (10)")
    parser.add_argument("--settle", type=int, default=8, help="steps before each block (8)")


def _trainer(hvd: Any, options: argparse.Namespace, kind: str) -> Any:
    """One step, and what ends the last one."""
    import torch

    model = small_resnet(options.width)
    optimizer: Any = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if kind != ALONE:
        hvd.broadcast_parameters(model.state_dict(), 0)
        optimizer = hvd.DistributedOptimizer(
            optimizer, model.named_parameters(), split_allreduce=kind == SPLIT
        )
    images, labels = batch(options.batch_size)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    megabytes = sum(p.numel() for p in model.parameters()) * 4e-6
    return step, getattr(optimizer, "flush", lambda: None), megabytes


def run(options: argparse.Namespace) -> None:
    """On every rank."""
    import torch

    hvd = ranks.init()
    torch.set_num_threads(1)
    trainers = {kind: _trainer(hvd, options, kind) for kind in (WHOLE, SPLIT, ALONE)}
    times: Dict[str, List[float]] = {kind: [] for kind in trainers}
    for _ in range(options.blocks):
        for kind, (step, flush, _) in trainers.items():
            for _ in range(options.settle if kind != ALONE else 1):
                step()
            hvd.barrier()
            times[kind].append(timed(_several(step, flush, options.steps)) / options.steps)
    seconds = {kind: median(slowest(hvd, values)) for kind, values in times.items()}
    gain = [w / s for w, s in zip(slowest(hvd, times[WHOLE]), slowest(hvd, times[SPLIT]))]
    ranks.say(
        hvd,
        f"small ResNet, {trainers[SPLIT][2]:.1f} MB of gradients, batch {options.batch_size} a "
        f"rank, {hvd.size()} ranks; a step takes",
    )
    for kind, value in seconds.items():
        ranks.say(hvd, f"{kind:>18}: {value * 1e3:9.1f} ms")
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
