"""Blocking allreduce by size: hvd.allreduce_, gloo's all_reduce and mpi4py's Allreduce in turns."""

import argparse
from typing import Any, Callable, Dict, List

from horovodx.torch_bench import ranks
from horovodx.torch_bench.measure import median, microseconds, size_name, slowest, timed, write_json

_BLOCKS = 15  # each peer is timed so often a size, in turns
_MANY = 8  # in a row: then one more goes first, and is not timed


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("-np", type=int, default=2, help="ranks (2)")
    parser.add_argument("--min", type=int, default=4, metavar="BYTES")
    parser.add_argument("--max", type=int, default=64 << 20, metavar="BYTES")
    parser.add_argument("--factor", type=int, default=4, help="from one size to the next (4)")


def sizes(least: int, most: int, factor: int) -> List[int]:
    """From the least, each a factor larger; the last is `most`, also if it is none of these."""
    found = []
    while least < most:
        found.append(least)
        least *= factor
    return [*found, most]


def _peers(hvd: Any, tensor: Any) -> Dict[str, Callable[[], Any]]:
    dist = ranks.init_gloo(hvd) if not _peers_ready else _peers_ready["gloo"]
    mpi = ranks.init_mpi() if not _peers_ready else _peers_ready["mpi"]
    _peers_ready.update(gloo=dist, mpi=mpi)
    peers: Dict[str, Callable[[], Any]] = {
        "HorovodX": lambda: hvd.allreduce_(tensor, op=hvd.Sum, name="bench"),
        "gloo": lambda: dist.all_reduce(tensor),
    }
    if mpi is not None:
        array = tensor.numpy()
        peers["mpi4py"] = lambda: mpi.COMM_WORLD.Allreduce(mpi.IN_PLACE, array)
    return peers


_peers_ready: Dict[str, Any] = {}


def _block(hvd: Any, tensor: Any, reduce: Callable[[], Any], repeats: int) -> float:
    """Seconds an allreduce takes on this rank, `repeats` in a row; their result is checked.

    Each sums what the one before left, so that data changes: 2^60 times a small number is exact.
    Ranks leave a barrier one after the other, on a loaded machine some hundred microseconds apart:
    who leaves it first would count that as part of small allreduces.
    """
    tensor.fill_(1.0)
    hvd.barrier()
    if repeats >= _MANY:
        reduce()
        tensor.fill_(1.0)

    def work() -> None:
        for _ in range(repeats):
            reduce()

    seconds = timed(work) / repeats
    hvd.barrier()  # who is done early must not take the core from who is not
    expected = float(hvd.size()) ** repeats
    if not bool((tensor == expected).all()):
        raise RuntimeError(f"wrong sum: {tensor.flatten()[0]} instead of {expected}")
    return seconds


def run(options: argparse.Namespace) -> None:
    """On every rank."""
    import torch

    hvd = ranks.init()
    rows: List[Dict[str, Any]] = []
    repeats_at_most = 60 if hvd.size() <= 4 else 20
    for size in sizes(options.min, options.max, options.factor):
        tensor = torch.empty(max(1, size // 4))
        peers = _peers(hvd, tensor)
        if not rows:
            _say_head(hvd, list(peers))
        repeats = max(1, min(repeats_at_most, (8 << 20) // size))
        for reduce in peers.values():
            _block(hvd, tensor, reduce, min(3, repeats))
        times: Dict[str, List[float]] = {name: [] for name in peers}
        for _ in range(_BLOCKS):
            for name, reduce in peers.items():
                times[name].append(_block(hvd, tensor, reduce, repeats))
        row = {name: median(slowest(hvd, seconds)) for name, seconds in times.items()}
        rows.append({"bytes": size, **row})
        _say_row(hvd, size, row)
    if options.json and hvd.rank() == 0:
        write_json(options.json, {"ranks": hvd.size(), "seconds": rows})
    hvd.barrier()


def _say_head(hvd: Any, peers: List[str]) -> None:
    others = [name for name in peers if name != "HorovodX"]
    ratios = "".join(f"{'HorovodX / ' + name:>22}" for name in others)
    ranks.say(hvd, f"blocking allreduce, float32 sum, {hvd.size()} ranks; microseconds, median")
    ranks.say(hvd, f"{'size':>10}" + "".join(f"{name:>12}" for name in peers) + ratios)


def _say_row(hvd: Any, size: int, row: Dict[str, float]) -> None:
    ours = row["HorovodX"]
    ratios = "".join(f"{ours / other:>22.3f}" for name, other in row.items() if name != "HorovodX")
    times = "".join(f"{microseconds(value):>12}" for value in row.values())
    ranks.say(hvd, f"{size_name(size):>10}{times}{ratios}")
