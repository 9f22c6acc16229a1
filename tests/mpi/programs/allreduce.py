"""MPI's own allreduce: types and operations that it has, and those that take the ring instead."""

import os

import torch

import horovod.torch as hvd

few = hvd.ProcessSet(range(int(os.environ["OMPI_COMM_WORLD_SIZE"]) - 1))
hvd.init(process_sets=[few])
rank, size = hvd.rank(), hvd.size()
TYPES = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
         torch.float16, torch.bfloat16, torch.float32, torch.float64)  # fmt: skip
for dtype in TYPES:
    for count in (0, 1, 7, 1000):
        x = (torch.arange(count) % 5 + 1 + rank).to(dtype)
        everyone = torch.stack([(torch.arange(count) % 5 + 1 + r).to(dtype) for r in range(size)])
        for op, expected in (
            (hvd.Sum, everyone.sum(0).to(dtype)),
            (hvd.Min, everyone.min(0).values),
            (hvd.Max, everyone.max(0).values),
        ):
            got = hvd.allreduce(x, op=op, name=f"{dtype}.{count}.{op}")
            assert torch.equal(got, expected), (dtype, count, op)
big = torch.full((3_000_001,), float(rank), dtype=torch.float64)  # more than goes at once
assert (hvd.allreduce(big, op=hvd.Sum, name="big") == size * (size - 1) / 2).all()
assert hvd.allreduce(torch.full((3,), rank + 1.0), name="mean")[0].item() == (size + 1) / 2
if few.included() and size > 2:  # one alone needs nobody's allreduce
    some = hvd.allreduce(torch.ones(5), op=hvd.Sum, name="few", process_set=few)
    assert some[4].item() == size - 1
hvd.barrier()
for step in range(40):  # by plan, and out of it
    names = ["a", "b", "c"] if step % 13 else ["c", "d"]
    handles = [hvd.allreduce_async(torch.ones(50_000), op=hvd.Sum, name=name) for name in names]
    assert all(hvd.synchronize(handle)[7].item() == size for handle in handles)
print(f"rank {rank} done", flush=True)
