"""How much longer horovodrun takes than a shell that starts the same processes at once.

    python tests/runner/launch_time.py [-np 4] [--rounds 7] [python -c 'import torch']

Both take turns, so that a machine that is busy is busy for both; the medians are compared.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import subprocess
import sys
import time

from conftest import horovodrun_path


def seconds(command: list[str]) -> float:
    """The time a command takes."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-np", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command or [sys.executable, "-c", "import torch"]
    line = shlex.join(command)
    by_shell = ["sh", "-c", " ".join([f"{line} &"] * options.np) + " wait"]
    by_us = [horovodrun_path(), "-np", str(options.np), *command]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(options.rounds):
        times[0].append(seconds(by_shell))
        times[1].append(seconds(by_us))
    shell, ours = (statistics.median(t) for t in times)
    print(f"shell      {shell:.3f} s  ({min(times[0]):.3f} to {max(times[0]):.3f})")
    print(f"horovodrun {ours:.3f} s  ({min(times[1]):.3f} to {max(times[1]):.3f})")
    print(f"ratio      {ours / shell:.3f}, {1000 * (ours - shell):.0f} ms more")


if __name__ == "__main__":
    main()
