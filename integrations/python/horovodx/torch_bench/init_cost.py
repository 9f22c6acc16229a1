"""What hvd.init() alone costs a training that goes on by itself: it should be nothing."""

import argparse
from typing import Dict, List

from horovodx.torch_bench.measure import median, timed, write_json
from horovodx.torch_bench.small_resnet import batch, small_resnet


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--blocks", type=int, default=15, help="with and without, in turns (15)")
    parser.add_argument("--steps", type=int, default=10, help="steps in a block (10)")


def run(options: argparse.Namespace) -> None:
    """In this process, with as many threads as torch takes by default."""
    import torch

    import horovod.torch as hvd

    model = small_resnet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = batch(32)

    def steps() -> None:
        for _ in range(options.steps):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()

    times: Dict[bool, List[float]] = {False: [], True: []}
    steps()
    for _ in range(options.blocks):
        times[False].append(timed(steps))
        hvd.init()
        times[True].append(timed(steps))
        hvd.shutdown()
    without, with_init = median(times[False]), median(times[True])
    count = 32 * options.steps
    print(f"without hvd.init(): {count / without:8.1f} images/s, {torch.get_num_threads()} threads")
    print(f"with hvd.init():    {count / with_init:8.1f} images/s")
    print(f"ratio: {without / with_init:.3f}")
    if options.json:
        write_json(options.json, {"without_seconds": without, "with_seconds": with_init})
