"""Horovod's collectives as PyTorch operators: what `torch.compile` can put into a graph.

`horovod.torch` calls these functions while `torch.compiler.is_compiling()`; otherwise it speaks to
the engine directly. Importing this module registers `torch.ops.horovodx`; do that before the first
`torch.compile`, whose caches do not know of it.

Needs PyTorch 2.10 or later, and tensors in CPU memory.
"""

from horovodx.torch_ops.functions import (
    Pending,
    allgather,
    allreduce,
    allreduce_,
    allreduce_async,
    allreduce_async_,
    alltoall,
    barrier,
    broadcast,
    broadcast_,
    grouped_allreduce,
    grouped_allreduce_,
    reducescatter,
    synchronize,
)
from horovodx.torch_ops.registration import count_in_flight, register

register()

__all__ = [
    "Pending",
    "allgather",
    "allreduce",
    "allreduce_",
    "allreduce_async",
    "allreduce_async_",
    "alltoall",
    "barrier",
    "broadcast",
    "broadcast_",
    "count_in_flight",
    "grouped_allreduce",
    "grouped_allreduce_",
    "reducescatter",
    "register",
    "synchronize",
]
