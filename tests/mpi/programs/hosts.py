"""Collectives between hosts over MPI's links, of sizes that are and are not whole blocks."""

from pathlib import Path

import numpy as np
import torch

import horovod.torch as hvd

hvd.init()
rank, size = hvd.rank(), hvd.size()
for count in (0, 1, 7, 65_536, 1_000_003):
    x = torch.arange(count, dtype=torch.float64) % 1000 + rank
    total = hvd.allreduce(x, op=hvd.Sum, name=f"sum{count}")
    expected = (np.arange(count) % 1000) * size + size * (size - 1) / 2
    np.testing.assert_array_equal(total.numpy(), expected)
gathered = hvd.allgather(torch.full((rank + 1, 3), rank), name="gather")
assert gathered[:, 1].tolist() == [r for r in range(size) for _ in range(r + 1)]
assert hvd.broadcast(torch.tensor([rank]), size - 1, name="root").tolist() == [size - 1]
parts, _ = hvd.alltoall(torch.arange(size) + 10 * rank, torch.ones(size, dtype=torch.int32))
assert parts.tolist() == [rank + 10 * r for r in range(size)]
for _ in range(30):  # long enough for a plan
    handles = [hvd.allreduce_async(torch.ones(100) * i, name=f"p{i}") for i in range(4)]
    assert [hvd.synchronize(handle)[9].item() for handle in handles] == [0, 1, 2, 3]
for size_class in (16, 18, 20):  # often enough for whatever may be the fastest to be tried
    for _ in range(25):
        total = hvd.allreduce(torch.ones(1 << size_class), op=hvd.Sum, name=f"chosen{size_class}")
        assert total[-1].item() == size
# Memory is shared if two have mapped the same file.
maps = Path("/proc/self/maps").read_text().splitlines()
files = hvd.allgather_object({line.split()[4] for line in maps if "memfd:horovodx" in line})
sharing = [r for r in range(size) if r == rank or files[r] & files[rank]]
print(f"rank {rank} shares memory with {sharing}", flush=True)
links = "mpi" if not hvd.gloo_enabled() else "tcp"
place = f"{hvd.local_rank()}/{hvd.local_size()} {hvd.cross_rank()}/{hvd.cross_size()}"
print(f"rank {rank} of {size} {place} {links}", flush=True)
