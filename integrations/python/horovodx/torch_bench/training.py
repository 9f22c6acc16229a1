"""Training a small ResNet: DistributedOptimizer against DistributedDataParallel over gloo."""

import argparse
from typing import Any, Callable, Dict, List

from horovodx.torch_bench import ranks
from horovodx.torch_bench.measure import median, slowest, timed, write_json
from horovodx.torch_bench.small_resnet import batch, small_resnet


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=2, help="ranks (2)")
    parser.add_argument("--batch-size", type=int, default=16, help="images a rank and step (16)")
    parser.add_argument("--blocks", type=int, default=15, help="each is timed so often, in turns")
    parser.add_argument("--steps", type=int, default=10, help="steps in a block (10)")


def _trainer(model: Any, parameters: Any, optimizer: Any, data: Any) -> Callable[[], None]:
    import torch

    images, labels = data

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def run(options: argparse.Namespace) -> None:
    """On every rank."""
    import torch

    hvd = ranks.init()
    ranks.init_gloo(hvd)
    torch.set_num_threads(1)
    data = batch(options.batch_size)

    ours = small_resnet()
    hvd.broadcast_parameters(ours.state_dict(), 0)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(ours.parameters(), lr=0.01), named_parameters=ours.named_parameters()
    )
    theirs = torch.nn.parallel.DistributedDataParallel(small_resnet())
    plain = small_resnet()
    steps: Dict[str, Callable[[], None]] = {
        "HorovodX": _trainer(ours, None, optimizer, data),
        "DDP (gloo)": _trainer(
            theirs, None, torch.optim.SGD(theirs.parameters(), lr=0.01), data
        ),
        "not distributed": _trainer(
            plain, None, torch.optim.SGD(plain.parameters(), lr=0.01), data
        ),
    }
    times: Dict[str, List[float]] = {name: [] for name in steps}
    for turn in range(options.blocks + 2):
        for name, step in steps.items():
            hvd.barrier()
            seconds = timed(lambda step=step: [step() for _ in range(options.steps)])  # type: ignore[misc]
            if turn >= 2:
                times[name].append(seconds)
    middle = {name: median(slowest(hvd, values)) for name, values in times.items()}
    images = options.batch_size * options.steps * hvd.size()
    speed = {name: images / seconds for name, seconds in middle.items()}
    ranks.say(hvd, f"small ResNet, batch {options.batch_size} a rank, {hvd.size()} ranks")
    for name, value in speed.items():
        ranks.say(hvd, f"{name:>18}: {value:9.1f} images/s")
    ranks.say(hvd, f"HorovodX / DDP (gloo): {speed['HorovodX'] / speed['DDP (gloo)']:.3f}")
    if options.json and hvd.rank() == 0:
        write_json(options.json, {"ranks": hvd.size(), "images_per_second": speed})
    hvd.barrier()
