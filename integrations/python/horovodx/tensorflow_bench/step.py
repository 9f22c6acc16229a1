"""What communication adds to a training step: HorovodX against MultiWorkerMirroredStrategy.

Both have processes of their own on this machine and take turns in short blocks; each runs the same
step with and without communication, and the difference is what is left exposed of it.
"""

import argparse
import contextlib
from typing import Any, Callable, Dict, List

from horovodx.tensorflow_bench import processes
from horovodx.torch_bench.measure import median, write_json

_WAYS = ("without", "with")
_PEERS: Dict[str, Callable[[int, int], Any]] = {
    "HorovodX": processes.horovodx,
    "tf.distribute": processes.tf_distribute,  # as it comes
    "in-32-MB-packs": lambda size, products: processes.tf_distribute(size, products, 32_000_000),
}

Times = Dict[str, Dict[str, float]]  # by peer, then without, with, exposed


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=2, help="ranks (2)")
    parser.add_argument("--blocks", type=int, default=15, help="each is timed so often (15)")
    parser.add_argument("--steps", type=int, default=5, help="steps in a block (5)")
    parser.add_argument("--warmup", type=int, default=3, help="blocks before that (3)")
    parser.add_argument(
        "--products", type=int, nargs="+", default=[0, 322], metavar="N",
        help="matrix products of a backward pass, one table each (0 322)",
    )  # fmt: skip
    parser.add_argument(
        "--peers", nargs="+", choices=list(_PEERS), default=list(_PEERS), help="who takes part"
    )


def _measure(products: int, options: argparse.Namespace) -> Times:
    """Seconds a step takes."""
    times: Dict[str, Dict[str, List[float]]] = {
        name: {way: [] for way in _WAYS} for name in options.peers
    }
    with contextlib.ExitStack() as stack:
        groups = {
            name: stack.enter_context(_PEERS[name](options.np, products))
            for name in options.peers
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


def _say(products: int, result: Times) -> None:
    for i, (peer, t) in enumerate(result.items()):
        print(
            f"{products if i == 0 else '':>10}{peer:>16}{t['without'] * 1e3:>10.1f}"
            f"{t['with'] * 1e3:>10.1f}{t['exposed'] * 1e3:>10.1f}",
            flush=True,
        )


def run(options: argparse.Namespace) -> None:
    """In this process, which starts the others."""
    print(
        f"the gradients of ResNet-50 (161, 102 MB) in one tf.function, {options.np} ranks; "
        "ms a step, median"
    )
    print(f"{'products':>10}{'':>16}{'without':>10}{'with':>10}{'exposed':>10}")
    rows: List[Dict[str, Any]] = []
    for products in options.products:
        result = _measure(products, options)
        _say(products, result)
        row: Dict[str, Any] = {"products": products, "seconds": result}
        others = [t["exposed"] for peer, t in result.items() if peer != "HorovodX"]
        if others and "HorovodX" in result:
            row["ratio"] = min(others) / result["HorovodX"]["exposed"]
            print(f"exposed, the best tf.distribute / HorovodX: {row['ratio']:.2f}", flush=True)
        rows.append(row)
        if options.json:  # a peer that fails in the next one does not take this one along
            write_json(options.json, {"ranks": options.np, "steps": rows})
