"""A rank wherever it was put: all collectives at odd sizes; then it says what its place is."""

import json
import os

import numpy
from arrays import Array, Arrays, numbers, reduced, same

COUNTS = (0, 1, 3, 1023, 300_001)
WIDTH = 3


def table(rank: int, rows: int) -> Array:
    """Rows of a rank."""
    return numbers(rank, rows * WIDTH).reshape(rows, WIDTH)


def split(rank: int, to: int, count: int) -> int:
    """How many rows one rank has for another; often none."""
    return (rank + 2 * to + count) % 5


def check_alltoall(hvd: Arrays, count: int) -> None:
    rank, size = hvd.rank(), hvd.size()
    splits = [[split(r, to, count) * (1 + count // 16) for to in range(size)] for r in range(size)]
    mine = table(rank, sum(splits[rank]))
    parts = []
    for r in range(size):
        begin = sum(splits[r][:rank])
        parts.append(table(r, sum(splits[r]))[begin : begin + splits[r][rank]])
    got = hvd.alltoall(f"alltoallv.{count}", mine, splits[rank])
    same(got, numpy.concatenate(parts), ("alltoall", splits))
    each = count // 4
    equal = hvd.alltoall(f"alltoall.{count}", table(rank, each * size))
    parts = [table(r, each * size)[each * rank : each * (rank + 1)] for r in range(size)]
    same(equal, numpy.concatenate(parts), ("alltoall", each))


def check_all(hvd: Arrays, count: int) -> None:
    rank, size = hvd.rank(), hvd.size()
    for op in ("sum", "average", "max"):
        got = hvd.allreduce(f"allreduce.{count}.{op}", numbers(rank, count), op)
        same(got, reduced(op, size, count), ("allreduce", count, op), rounding=1e-6)
    rows = [0 if r == 1 else count + r for r in range(size)]
    gathered = hvd.allgather(f"allgather.{count}", table(rank, rows[rank]))
    same(gathered, numpy.concatenate([table(r, rows[r]) for r in range(size)]), ("gather", count))
    for root in range(size):
        got = hvd.broadcast(f"broadcast.{count}.{root}", numbers(rank, count), root)
        same(got, numbers(root, count), ("broadcast", count, root))
    check_alltoall(hvd, count)
    begin = rank * (count // size) + min(rank, count % size)
    got = hvd.reducescatter(f"reducescatter.{count}", table(rank, count), "sum")
    expected = reduced("sum", size, count * WIDTH).reshape(count, WIDTH)
    same(got, expected[begin : begin + len(got)], ("reducescatter", count))


hvd = Arrays()
hvd.init()
for count in COUNTS:
    check_all(hvd, count)
hvd.barrier()
place = {
    "rank": [hvd.rank(), hvd.size()],
    "local": [hvd.local_rank(), hvd.local_size()],
    "cross": [hvd.cross_rank(), hvd.cross_size()],
    "homogeneous": hvd.is_homogeneous(),
    "host": os.environ["HOROVOD_HOSTNAME"],
}
hvd.shutdown()
print(json.dumps(place))
