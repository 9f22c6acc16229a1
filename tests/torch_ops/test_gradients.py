"""Gradients with an engine of size 1; programs/gradients.py has the rest."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from horovodx import torch_ops

pytestmark = pytest.mark.usefixtures("engine")


def alltoall_of_two(x: Tensor) -> Tensor:
    output, _ = torch_ops.alltoall(x, [2])
    return output


CASES: dict[str, tuple[Callable[[Tensor], Tensor], list[float]]] = {
    "allreduce": (lambda x: torch_ops.allreduce(x, op=1, prescale=2.0, postscale=3.0), [6.0] * 3),
    "grouped": (lambda x: sum(torch_ops.grouped_allreduce([x, 2 * x])), [3.0] * 3),
    "allgather": (torch_ops.allgather, [1.0] * 3),
    "broadcast": (lambda x: torch_ops.broadcast(x, 0), [1.0] * 3),
    "alltoall": (alltoall_of_two, [1.0, 1.0, 0.0]),
    "reducescatter": (
        lambda x: torch_ops.reducescatter(x, op=1, prescale=2.0, postscale=3.0),
        [6.0] * 3,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_gradient(case: str) -> None:
    function, expected = CASES[case]
    x = torch.ones(3, requires_grad=True)
    function(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == expected


@pytest.mark.parametrize("case", CASES)
def test_gradient_in_compiled_code(case: str) -> None:
    function, expected = CASES[case]
    torch._dynamo.reset()
    x = torch.ones(3, requires_grad=True)
    torch.compile(function, fullgraph=True, backend="aot_eager")(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == expected


def test_gradient_of_a_gradient() -> None:
    x = torch.tensor([2.0], requires_grad=True)
    y = torch_ops.allreduce(x * x * x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(torch_ops.allreduce(first), x)
    assert (first.item(), second.item()) == (12.0, 12.0)
