"""init(comm=...): ranks, a communicator, several, and process sets from them."""

import sys

import torch
from mpi4py import MPI

import horovod.torch as hvd

world = MPI.COMM_WORLD
me, n = world.Get_rank(), world.Get_size()


def everybody(process_set: hvd.ProcessSet = hvd.global_process_set) -> list:
    return hvd.allgather(torch.tensor([me]), name="me", process_set=process_set).tolist()


# A list of ranks: the job is these, in this order.
chosen = [n - 1, 0]
hvd.init(comm=chosen)
if me in chosen:
    assert (hvd.size(), hvd.rank(), everybody()) == (2, chosen.index(me), chosen)
else:  # a warning, and alone
    assert (hvd.size(), hvd.rank(), everybody()) == (1, 0, [me])
hvd.shutdown()

# Two jobs side by side.
halves = [[r for r in range(n) if r % 2 == parity] for parity in (0, 1)]
half = world.Split(me % 2, me)
for comm in (halves[me % 2], half):
    hvd.init(comm=comm)
    assert everybody() == halves[me % 2] and hvd.mpi_enabled()
    hvd.shutdown()

# Backwards: MPI's order counts.
backwards = world.Split(0, n - me)
hvd.init(comm=backwards)
assert hvd.rank() == n - 1 - me and everybody() == list(range(n))[::-1]
hvd.shutdown()

# Sets of the groups that every rank is in, then a set of ranks.
mine, last_two = hvd.ProcessSet(half), hvd.ProcessSet([n - 2, n - 1])
hvd.init(comm=world, process_sets=[mine, last_two])
assert mine.process_set_id == 1 + me % 2 and mine.ranks == halves[me % 2], str(mine)
assert last_two.process_set_id == 3
assert everybody(mine) == halves[me % 2] and mine.size() == len(halves[me % 2])
hvd.init(comm=world, process_sets=[mine])  # again while it runs: the same ids
assert mine.process_set_id == 1 + me % 2
try:
    hvd.add_process_set(hvd.ProcessSet(half))
    sys.exit("a communicator was added after init()")
except NotImplementedError:
    pass
everybody()  # who shuts down first ends what others still wait for
hvd.shutdown()

# Somebody is in no group.
few = world.Split(0 if me else MPI.UNDEFINED, me)
outside = hvd.ProcessSet(few)
hvd.init(comm=world, process_sets=[outside])
assert (outside.ranks, outside.process_set_id) == (
    (list(range(1, n)), 1) if me else (None, None)
)
hvd.shutdown()

# Several communicators.
hvd.init(comm=[world, half])
assert hvd.mpi_ops._basics._get_process_set_ids_and_ranks() == {
    0: list(range(n)), 1: halves[0], 2: halves[1]
}  # fmt: skip
hvd.shutdown()

# mpi4py goes on working beside and after it.
assert world.allreduce(me) == n * (n - 1) // 2
print(f"rank {me} done", flush=True)
