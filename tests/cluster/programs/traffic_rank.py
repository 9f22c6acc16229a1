"""A rank that counts what its host sends while allreduces run.

    traffic_rank.py ELEMENTS TIMES ALGORITHM...

One rank of each host prints its host's number, the algorithm and the bytes.
"""

from __future__ import annotations

import os
import sys

from arrays import Arrays, numbers, reduced, same


def sent() -> int:
    """Bytes that this host has sent over the network so far."""
    interface = os.environ["HOROVOD_GLOO_IFACE"]
    with open("/proc/net/dev", encoding="ascii") as file:
        for line in file:
            name, _, counts = line.partition(":")
            if name.strip() == interface:
                return int(counts.split()[8])
    raise RuntimeError(f"no interface {interface}")


def main() -> None:
    count, times = int(sys.argv[1]), int(sys.argv[2])
    hvd = Arrays()
    for algorithm in sys.argv[3:]:
        os.environ["HOROVODX_ALLREDUCE"] = f"{algorithm}:0-max"
        hvd.init()
        mine, expected = numbers(hvd.rank(), count), reduced("sum", hvd.size(), count)
        hvd.barrier()
        before = sent()
        for turn in range(times):
            got = hvd.allreduce(f"x{turn}", mine, "sum")
        hvd.barrier()  # what others still had to send has arrived
        after = sent()
        same(got, expected, algorithm)
        if hvd.local_rank() == 0:
            print(hvd.cross_rank(), algorithm, after - before, flush=True)
        hvd.shutdown()


main()
