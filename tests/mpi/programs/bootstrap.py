"""init() by mpirun alone: who is who, collectives, a second life, and what the queries say."""

import numpy as np
import torch

import horovod.torch as hvd

hvd.init()
rank, size = hvd.rank(), hvd.size()
for life in range(2):
    for count in (0, 1, 7, 100_003):
        total = hvd.allreduce(torch.full((count,), rank + 1.0), op=hvd.Sum, name=f"sum{count}")
        np.testing.assert_array_equal(total.numpy(), np.full(count, size * (size + 1) / 2))
    gathered = hvd.allgather(torch.full((rank + 1, 2), rank), name="gather")
    assert gathered[:, 0].tolist() == [r for r in range(size) for _ in range(r + 1)]
    assert hvd.broadcast(torch.tensor([rank]), size - 1, name="root").tolist() == [size - 1]
    for _ in range(20):  # long enough for a plan
        parts = [hvd.allreduce_async(torch.ones(10) * i, name=f"p{i}") for i in range(3)]
        assert [hvd.synchronize(part)[0].item() for part in parts] == [0, 1, 2]
    facts = (hvd.mpi_enabled(), hvd.mpi_built(), hvd.mpi_threads_supported(), hvd.gloo_enabled())
    if life == 0:
        place = f"{hvd.local_rank()}/{hvd.local_size()} {hvd.cross_rank()}/{hvd.cross_size()}"
        print(f"rank {rank} of {size} {place} {facts}", flush=True)
        hvd.shutdown()
        assert not hvd.mpi_enabled()
        hvd.init()
