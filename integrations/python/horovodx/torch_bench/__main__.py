"""The command: picks a benchmark, starts its ranks."""

import sys
from typing import List, Optional

from horovodx import bench_modes
from horovodx.torch_bench import allreduce, init_cost, launch, schedules, split, step, training
from horovodx.torch_bench.ranks import IS_RANK, am_rank, start_ranks

BENCHMARKS: bench_modes.Benchmarks = {
    "allreduce": (allreduce, "blocking hvd.allreduce_ by size, against gloo and mpi4py"),
    "step": (step, "gradients that arrive over a time: what is left to wait for, against gloo"),
    "schedules": (schedules, "whole steps under each schedule, against 25 MiB buckets over gloo"),
    "training": (training, "a small ResNet: DistributedOptimizer against DDP over gloo"),
    "split": (split, "a perceptron: with split_allreduce and without"),
    "init": (init_cost, "single-process training with and without hvd.init()"),
    "launch": (launch, "horovodrun against starting the same interpreters by hand"),
}


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one benchmark; the exit code of the first rank that failed, or 0."""
    words = bench_modes.words_of(arguments, "allreduce")
    options = bench_modes.parsed(words, "hvdx-bench --torch", __doc__, BENCHMARKS)
    module = BENCHMARKS[options.mode][0]
    ranks = getattr(options, "np", 0)
    if ranks and not am_rank():
        return start_ranks(ranks, [sys.executable, "-m", __package__, *words])
    module.run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())

__all__ = ["IS_RANK", "main"]
