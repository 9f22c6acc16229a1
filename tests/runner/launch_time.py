"""How much longer horovodrun takes than a shell that starts the same processes at once.

    python tests/runner/launch_time.py [-np 4] [--rounds 7] [python -c 'import torch']

Both take turns, so that a machine that is busy is busy for both. Where others compute at the same
time, compare the shortest times and the CPU times.
"""

from __future__ import annotations

import argparse
import resource
import shlex
import statistics
import subprocess
import sys
import time

from conftest import horovodrun_path


def measure(command: list[str]) -> tuple[float, float]:
    """How long a command takes, and how much CPU time all of its processes use."""
    cpu = cpu_of_children()
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin, cpu_of_children() - cpu


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def summary(name: str, rounds: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Prints and returns median time, shortest time, median CPU time."""
    times = sorted(t for t, _ in rounds)
    median, cpu = statistics.median(times), statistics.median(c for _, c in rounds)
    text = f"{name:10} {median:7.3f} s median, {times[0]:.3f} s shortest, {cpu:.3f} s of CPU"
    print(text)
    return median, times[0], cpu


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
    rounds: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for _ in range(options.rounds):
        rounds[0].append(measure(by_shell))
        rounds[1].append(measure(by_us))
    shell, ours = summary("shell", rounds[0]), summary("horovodrun", rounds[1])
    print("ratio      " + "  ".join(f"{a / b:.3f}" for a, b in zip(ours, shell)))


if __name__ == "__main__":
    main()
