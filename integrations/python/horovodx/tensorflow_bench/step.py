"""What communication adds to a training step: HorovodX against MultiWorkerMirroredStrategy.

Both have processes of their own on this machine and take turns in short blocks; each runs the same
step with and without communication, and the difference is what is left exposed of it.
"""

import argparse
from typing import Any, Dict, List

from horovodx.tensorflow_bench import processes
from horovodx.torch_bench.measure import median, write_json

_PRODUCTS = {"gradients at once": 0, "over a backward pass": 322}
_WAYS = ("without", "with")


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=2, help="ranks (2)")
    parser.add_argument("--blocks", type=int, default=15, help="each is timed so often (15)")
    parser.add_argument("--steps", type=int, default=5, help="steps in a block (5)")
    parser.add_argument("--warmup", type=int, default=3, help="blocks before that (3)")


def _measure(products: int, options: argparse.Namespace) -> Dict[str, Dict[str, float]]:
    """Seconds a step takes: by peer, with and without."""
    with processes.horovodx(options.np, products) as ours:
        with processes.tf_distribute(options.np, products) as theirs:
            groups = {"HorovodX": ours, "tf.distribute": theirs}
            times: Dict[str, Dict[str, List[float]]] = {
                name: {way: [] for way in _WAYS} for name in groups
            }
            for turn in range(options.warmup + options.blocks):
                for name, group in groups.items():
                    for way in _WAYS:
                        seconds = group.block(way, options.steps)
                        if turn >= options.warmup:
                            times[name][way].append(seconds)
    return {
        name: {
            "without": median(ways["without"]),
            "with": median(ways["with"]),
            "exposed": median([b - a for a, b in zip(ways["without"], ways["with"])]),
        }
        for name, ways in times.items()
    }


def run(options: argparse.Namespace) -> None:
    """In this process, which starts the others."""
    print(
        f"the gradients of ResNet-50 (161, 102 MB) in one tf.function, {options.np} ranks; "
        "ms a step, median"
    )
    print(f"{'':>22}{'':>16}{'alone':>9}{'together':>10}{'exposed':>9}")
    rows: List[Dict[str, Any]] = []
    for name, products in _PRODUCTS.items():
        result = _measure(products, options)
        for peer, t in result.items():
            print(
                f"{name if peer == 'HorovodX' else '':>22}{peer:>16}{t['without'] * 1e3:>9.1f}"
                f"{t['with'] * 1e3:>10.1f}{t['exposed'] * 1e3:>9.1f}"
            )
        ratio = result["tf.distribute"]["exposed"] / result["HorovodX"]["exposed"]
        print(f"{'tf.distribute / HorovodX':>57}{ratio:>9.2f}", flush=True)
        rows.append({"step": name, "seconds": result, "ratio": ratio})
    if options.json:
        write_json(options.json, {"ranks": options.np, "steps": rows})
