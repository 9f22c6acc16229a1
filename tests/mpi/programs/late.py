"""Rank 1 comes two seconds late; how much of a core does rank 0 use while it waits?

Twice: for something new, which has to be agreed on first, and within a plan, where rank 0 has begun
the collective itself when it begins to wait.
"""

import time

import torch

import horovod.torch as hvd

LATE = 2.0

hvd.init()
x = torch.ones(100_000)
for _ in range(30):  # long enough for a plan
    hvd.allreduce(x, name="planned")
for name in ("new", "planned"):
    hvd.barrier()
    if name == "planned":
        for _ in range(30):  # the barrier was no part of it
            hvd.allreduce(x, name="planned")
    if hvd.rank() == 1:
        time.sleep(LATE)
    begin, used = time.monotonic(), time.process_time()
    hvd.allreduce(x, name=name)
    share = (time.process_time() - used) / (time.monotonic() - begin)
    if hvd.rank() == 0:
        waited = time.monotonic() - begin
        print(f"{name}: waited {waited:.1f} s, used {100 * share:.1f} % of a core", flush=True)
