"""A rank whose planned step takes longer than a plan waits for somebody who does not come.

    slow_plan_rank.py ELEMENTS STEPS

Rank 0 prints how many plans were started and left, and the seconds of the last step. Plans are
counted before that step: whoever is through with it ends the job, and with it the plan.
"""

from __future__ import annotations

import os
import sys
import time

# Nothing that is measured may be a reason to leave a plan here.
os.environ.update(HOROVODX_SELECTION="rules", HOROVODX_SCHEDULE="fusion")

from arrays import Arrays, numbers, reduced, same  # noqa: E402

from horovodx import _horovodx as native  # noqa: E402


def main() -> None:
    count, steps = int(sys.argv[1]), int(sys.argv[2])
    hvd = Arrays()
    hvd.init()
    mine, expected = numbers(hvd.rank(), count), reduced("sum", hvd.size(), count)
    started = left = 0
    seconds = 0.0
    for _ in range(steps):
        started, left = native.counter("plans_started"), native.counter("plans_left")
        began = time.monotonic()
        got = hvd.allreduce("gradient", mine, "sum")
        seconds = time.monotonic() - began
        same(got, expected, "slow")
    if hvd.rank() == 0:
        print("plans:", started, left, seconds, flush=True)
    hvd.shutdown()


main()
