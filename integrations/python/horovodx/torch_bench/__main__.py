"""The command: picks a benchmark, starts its ranks."""

import argparse
import sys
from typing import List, Optional

from horovodx.torch_bench import allreduce, init_cost, launch, step, training
from horovodx.torch_bench.ranks import IS_RANK, am_rank, start_ranks

BENCHMARKS = {
    "allreduce": (allreduce, "blocking hvd.allreduce_ by size, against gloo and mpi4py"),
    "step": (step, "gradients that arrive over a time: what is left to wait for, against gloo"),
    "training": (training, "a small ResNet: DistributedOptimizer against DDP over gloo"),
    "init": (init_cost, "single-process training with and without hvd.init()"),
    "launch": (launch, "horovodrun against starting the same interpreters by hand"),
}


def parser() -> argparse.ArgumentParser:
    """The command line; each benchmark adds its options."""
    top = argparse.ArgumentParser(prog="hvdx-bench --torch", description=__doc__)
    modes = top.add_subparsers(dest="mode", metavar="BENCHMARK")
    for name, (module, text) in BENCHMARKS.items():
        mode = modes.add_parser(name, help=text, description=text)
        mode.add_argument("--json", metavar="FILE", help="write the results there too")
        module.add_options(mode)
    return top


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one benchmark; the exit code of the first rank that failed, or 0."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "allreduce")
    options = parser().parse_args(words)
    module = BENCHMARKS[options.mode][0]
    ranks = getattr(options, "np", 0)
    if ranks and not am_rank():
        return start_ranks(ranks, [sys.executable, "-m", __package__, *words])
    module.run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())

__all__ = ["IS_RANK", "main"]
