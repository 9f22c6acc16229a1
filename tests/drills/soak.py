#!/usr/bin/env python3
"""Random drills, one after the other, while memory and descriptors are watched.

    python tests/drills/soak.py --minutes 60 [--seed N] [--jobs 2]

Beside the drills two ranks live for the whole time and start and shut down their engines again and
again (soak_rank.py): what they, their launcher (which serves their rendezvous) and this process
have in memory and descriptors must stay flat. Each drill's seed is printed; one runs again with
`run.py --only FAULT --moment M --transport T --seed S`.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from drill import HERE, run_drill  # noqa: E402
from launchers import horovodrun_path  # noqa: E402
from matrix import SETTINGS, Cell, cells  # noqa: E402

_WARM = 0.1  # of the time: allocators and caches fill up
_MOST_GROWTH = 8 << 20  # bytes, from there to the end
_MOST_DESCRIPTORS = 3


class Watched:
    """What a process has, over time."""

    def __init__(self, name: str, pid: int) -> None:
        self.name = name
        self.pid = pid
        self.samples: list[tuple[float, int, int]] = []

    def look(self) -> None:
        """Takes a sample."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        kilobytes = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        descriptors = len(os.listdir(f"/proc/{self.pid}/fd"))
        self.samples.append((time.monotonic(), 1024 * int(kilobytes.split()[1]), descriptors))

    def judge(
        self, most_growth: int = _MOST_GROWTH, most_descriptors: int = _MOST_DESCRIPTORS
    ) -> str | None:
        """What has grown by more."""
        begin, end = self.samples[0][0], self.samples[-1][0]
        later = [s for s in self.samples if s[0] >= begin + _WARM * (end - begin)]
        third = max(1, len(later) // 3)
        first, last = later[:third], later[-third:]
        memory = [min(s[1] for s in part) for part in (first, last)]
        files = [min(s[2] for s in part) for part in (first, last)]
        print(
            f"{self.name}: {memory[0] / 2**20:.1f} MiB and {files[0]} descriptors, "
            f"at the end {memory[1] / 2**20:.1f} MiB and {files[1]}",
            flush=True,
        )
        if memory[1] - memory[0] > most_growth or files[1] - files[0] > most_descriptors:
            return f"{self.name} grows: memory {memory}, descriptors {files}"
        return None


class LongLived:
    """Two ranks that begin again and again."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        words = [horovodrun_path(), "-np", "2", sys.executable, str(HERE / "soak_rank.py")]
        env = {**os.environ, **SETTINGS, "SOAK_FOLDER": folder, "HOROVODX_HEARTBEAT_SECONDS": "10"}
        env["HOROVOD_GLOO_TIMEOUT_SECONDS"] = "60"
        self.launcher = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(list(self._folder.glob("pid.*"))) < 2:
            if time.monotonic() > deadline or self.launcher.poll() is not None:
                raise RuntimeError("the long-lived ranks did not start")
            time.sleep(0.05)

    def watched(self) -> list[Watched]:
        """Its processes."""
        ranks = [
            Watched(f"long-lived rank {r}", int((self._folder / f"pid.{r}").read_text()))
            for r in range(2)
        ]
        return [*ranks, Watched("their launcher", self.launcher.pid)]

    def lives(self) -> int:
        """How often they have begun."""
        return int((self._folder / "lives.0").read_text() or 0)

    def end(self) -> int:
        """They shut down for the last time."""
        (self._folder / "stop").touch()
        return self.launcher.wait(120)


def storm(todo: list[Cell], until: float, jobs: int, watched: list[Watched], seed: int) -> int:
    """Drills until the time is up; how many went otherwise than they should."""
    dice = random.Random(seed)
    bad = count = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running: set[concurrent.futures.Future[None]] = set()

        def one(cell: Cell, number: int) -> None:
            nonlocal bad, count
            outcome = run_drill(cell, number)
            count += 1
            word = "as told" if outcome.ok else "OTHERWISE"
            print(f"{word:9} {outcome.seconds:6.1f} s  {cell.name}, seed {number}", flush=True)
            if not outcome.ok:
                bad += 1
                print("\n".join(outcome.problems), flush=True)

        while time.monotonic() < until:
            while len(running) < jobs:
                running.add(pool.submit(one, dice.choice(todo), dice.randrange(1 << 30)))
            done, running = concurrent.futures.wait(running, 5, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                future.result()
            for process in watched:
                process.look()
    print(f"{count - bad} of {count} drills as the table says")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--jobs", type=int, default=1, help="drills at the same time")
    options = parser.parse_args()
    print(f"{options.minutes:g} minutes, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hvdx-soak-") as folder:
        old = LongLived(folder)
        try:
            watched = [*old.watched(), Watched("this process", os.getpid())]
            until = time.monotonic() + 60 * options.minutes
            bad = storm(list(cells(4)), until, options.jobs, watched, options.seed)
            print(f"the long-lived ranks have lived {old.lives()} times")
            grown = [text for process in watched if (text := process.judge())]
        finally:
            code = old.end()
    print("\n".join(grown) or "memory and descriptors are flat")
    if code != 0:
        print(f"the long-lived job ended with {code}")
    return int(bool(bad or grown or code))


if __name__ == "__main__":
    sys.exit(main())
