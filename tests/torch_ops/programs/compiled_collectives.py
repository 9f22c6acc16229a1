"""Every collective between ranks in one compiled graph, with gradients: as without compiling."""

from __future__ import annotations

import torch
from horovodx import torch_ops
from rank import RANK, SIZE
from torch import Tensor


def function(x: Tensor) -> tuple[Tensor, Tensor]:
    gathered = torch_ops.allgather(x, "gather")
    shared = torch_ops.broadcast(x, 1, "share")
    sent, received = torch_ops.alltoall(x, torch.tensor([1, 2], dtype=torch.int32), "send")
    share = torch_ops.reducescatter(x, "scatter", op=1)
    torch_ops.barrier()
    reduced = torch_ops.allreduce(x, "reduce", op=1)
    one, two = torch_ops.grouped_allreduce([x, 2 * x], "group")
    parts = [gathered, shared * RANK, sent, share, reduced, one, two]
    return sum((i + 1) * part.sum() for i, part in enumerate(parts)), received


assert SIZE == 2
x = torch.arange(6.0).reshape(3, 2) + 10 * RANK
x.requires_grad_()
total, received = function(x)
(gradient,) = torch.autograd.grad(total, x)
compiled = torch.compile(function, fullgraph=True)
for _ in range(2):
    compiled_total, compiled_received = compiled(x)
    (compiled_gradient,) = torch.autograd.grad(compiled_total, x)
    torch.testing.assert_close(compiled_total, total)
    torch.testing.assert_close(compiled_gradient, gradient)
    assert torch.equal(compiled_received, received)
