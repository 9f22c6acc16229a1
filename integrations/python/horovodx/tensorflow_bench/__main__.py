"""The command: picks a benchmark."""

import argparse
import sys
from typing import List, Optional

from horovodx.tensorflow_bench import step

BENCHMARKS = {
    "step": (step, "a training step's gradients, against MultiWorkerMirroredStrategy over gRPC"),
}


def parser() -> argparse.ArgumentParser:
    """The command line; each benchmark adds its options."""
    top = argparse.ArgumentParser(prog="hvdx-bench --tensorflow", description=__doc__)
    modes = top.add_subparsers(dest="mode", metavar="BENCHMARK")
    for name, (module, text) in BENCHMARKS.items():
        mode = modes.add_parser(name, help=text, description=text)
        mode.add_argument("--json", metavar="FILE", help="write the results there too")
        module.add_options(mode)
    return top


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one benchmark."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "step")
    options = parser().parse_args(words)
    BENCHMARKS[options.mode][0].run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
