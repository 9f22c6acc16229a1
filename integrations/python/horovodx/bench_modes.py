"""The command line that the benchmarks of the frameworks share: one word picks the benchmark."""

import argparse
import sys
from typing import Any, Dict, List, Optional, Tuple

# By name: a module with add_options(parser) and run(options), and what it measures.
Benchmarks = Dict[str, Tuple[Any, str]]


def words_of(arguments: Optional[List[str]], default: str) -> List[str]:
    """The command line's words; without a benchmark among them, the default one's."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, default)
    return words


def parsed(words: List[str], prog: str, about: Optional[str], benchmarks: Benchmarks) -> Any:
    """What was asked for; `mode` is the benchmark's name."""
    top = argparse.ArgumentParser(prog=prog, description=about)
    modes = top.add_subparsers(dest="mode", metavar="BENCHMARK")
    for name, (module, text) in benchmarks.items():
        mode = modes.add_parser(name, help=text, description=text)
        mode.add_argument("--json", metavar="FILE", help="write the results there too")
        module.add_options(mode)
    return top.parse_args(words)
