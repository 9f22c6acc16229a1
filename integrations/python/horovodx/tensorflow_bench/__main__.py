"""The command: picks a benchmark."""

import sys
from typing import List, Optional

from horovodx import bench_modes
from horovodx.tensorflow_bench import step

BENCHMARKS: bench_modes.Benchmarks = {
    "step": (step, "a training step's gradients, against MultiWorkerMirroredStrategy over gRPC"),
}


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one benchmark."""
    words = bench_modes.words_of(arguments, "step")
    options = bench_modes.parsed(words, "hvdx-bench --tensorflow", __doc__, BENCHMARKS)
    BENCHMARKS[options.mode][0].run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
