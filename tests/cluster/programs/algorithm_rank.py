"""A rank that runs allreduces by one algorithm after the other, and compares with numpy.

    algorithm_rank.py FOLDER WAY...      a way is NAME=VARIABLE=VALUE

Each way is a life of the engine of its own, with a timeline FOLDER/NAME.json. Those whose name
starts with by_flag only choose what others have tried in full.
"""

from __future__ import annotations

import os
import sys

from arrays import OPS, TYPES, Arrays, inputs, native, reduced, same

LARGE_BYTES = (9 << 19) + 40  # more than goes through scratch at once
SMALL = (1, 5, 1023)  # elements; 5 is less than there are ranks


def counts(dtype: str) -> list[int]:
    """Elements, the last one several MiB and not a multiple of anything."""
    size = {"float16": 2, "float32": 4, "int64": 8}[dtype]
    return [*SMALL, LARGE_BYTES // size + 3]


def one_by_one(hvd: Arrays, briefly: bool) -> int:
    """Every type, size and operation, alone; briefly: large ones only by one operation."""
    done = 0
    for dtype in TYPES:
        for count in counts(dtype):
            for op in ["sum"] if briefly and count not in SMALL else OPS:
                name = f"{dtype}.{count}.{op}"
                got = hvd.allreduce(name, inputs(op, hvd.rank(), count, dtype), op)
                same(got, reduced(op, hvd.size(), count, dtype), name)
                done += 1
    return done


def together(hvd: Arrays) -> int:
    """Small ones at once, so that several go as one; often enough for a plan."""
    kinds = [(dtype, count, op) for dtype in TYPES for op in ("sum", "max") for count in SMALL]
    for _ in range(12):
        under_way = [
            hvd.start_allreduce(f"{d}.{n}.{op}.together", inputs(op, hvd.rank(), n, d), op)
            for d, n, op in kinds
        ]
        native.wait_all([handle for handle, _, _ in under_way])
        native.release_all([handle for handle, _, _ in under_way])
        for (dtype, count, op), (_, got, _) in zip(kinds, under_way):
            same(got, reduced(op, hvd.size(), count, dtype), (dtype, count, op, "together"))
    return len(kinds)


def main() -> None:
    folder, *ways = sys.argv[1:]
    hvd = Arrays()
    for way in ways:
        name, variable, value = way.split("=")
        os.environ[variable] = value
        os.environ["HOROVOD_TIMELINE"] = os.path.join(folder, f"{name}.json")
        hvd.init()
        tensors = one_by_one(hvd, briefly=name.startswith("by_flag")) + together(hvd)
        plans = native.counter("plans_started")
        if hvd.rank() == 0:
            print(f"{name} {tensors} {plans}", flush=True)
        hvd.shutdown()
        del os.environ[variable]


main()
