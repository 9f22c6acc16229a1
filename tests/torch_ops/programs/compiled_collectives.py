"""Every collective between ranks in one compiled graph, with gradients: as without compiling."""

from __future__ import annotations

import torch
from rank import RANK, SIZE
from torch import Tensor

from horovodx import torch_ops


def function(x: Tensor) -> list[Tensor]:
    gathered = torch_ops.allgather(x, "gather")
    shared = torch_ops.broadcast(x, 1, "share")
    sent, received = torch_ops.alltoall(x, torch.tensor([1, 2], dtype=torch.int32), "send")
    share = torch_ops.reducescatter(x, "scatter", op=1)
    torch_ops.barrier()
    reduced = torch_ops.allreduce(x, "reduce", op=1)
    one, two = torch_ops.grouped_allreduce([x, x.exp()], "group")
    return [received, gathered, shared, sent, share, reduced, one, two]


def gradient(results: list[Tensor]) -> Tensor:
    """Of all the results, each weighted in another way; `received` has none."""
    weights = [(1.0 + i) * (1.0 + RANK) * torch.ones_like(r) for i, r in enumerate(results[1:])]
    return torch.autograd.grad(results[1:], x, weights)[0]


assert SIZE == 2
x = torch.arange(6.0).reshape(3, 2) / 10 + RANK
x.requires_grad_()
expected = function(x)
expected_gradient = gradient(expected)
compiled = torch.compile(function, fullgraph=True)
for _ in range(2):
    results = compiled(x)
    torch.testing.assert_close(results, expected)
    torch.testing.assert_close(gradient(results), expected_gradient)
