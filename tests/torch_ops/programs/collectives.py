"""Every collective between ranks, without the compiler: values, gradients, errors."""

from __future__ import annotations

import torch
from rank import RANK, SIZE
from torch import Tensor

from horovodx import torch_ops

SUM, AVERAGE, MIN, MAX = 1, 0, 3, 4
RANKS = range(SIZE)


def same(result: Tensor, expected: object) -> None:
    assert result.tolist() == expected, (result, expected)


def gradient(result: Tensor, weight: Tensor, of: Tensor) -> Tensor:
    return torch.autograd.grad((result * weight).sum(), of)[0]


def check_allreduce() -> None:
    x = torch.tensor([1.0 + RANK, 10.0], requires_grad=True)
    total = sum(1.0 + r for r in RANKS)
    reduced = torch_ops.allreduce(x, "x", SUM, 2.0, 10.0)
    same(reduced, [20 * total, 200.0 * SIZE])
    same(gradient(reduced, torch.tensor([1.0 + RANK, 1.0]), x), [20 * total, 20.0 * SIZE])
    same(torch_ops.allreduce(x.detach(), "min", MIN), [1.0, 10.0])
    same(torch_ops.allreduce(x.detach(), "max", MAX), [float(SIZE), 10.0])
    whole = torch.tensor([1 + RANK, -RANK], dtype=torch.int32)
    same(torch_ops.allreduce(whole, "int", SUM), [sum(1 + r for r in RANKS), -sum(RANKS)])
    half = torch.full((3,), 1.5, dtype=torch.bfloat16)
    same(torch_ops.allreduce(half, "bfloat16", SUM), [1.5 * SIZE] * 3)
    group = torch_ops.grouped_allreduce([x.detach(), whole.float()], "group", SUM)
    same(group[0], [total, 10.0 * SIZE])
    same(group[1], [float(sum(1 + r for r in RANKS)), float(-sum(RANKS))])


def check_allgather() -> None:
    x = torch.full((RANK + 1, 2), float(RANK), requires_grad=True)
    gathered = torch_ops.allgather(x, "g")
    same(gathered, [[float(r)] * 2 for r in RANKS for _ in range(r + 1)])
    # Row i of the result has gradient i * (1 + rank): averaged, then this rank's rows.
    rows = torch.arange(float(gathered.shape[0])).unsqueeze(1)
    first = sum(range(RANK + 1))
    mean = sum(1.0 + r for r in RANKS) / SIZE
    expected = torch.tensor([[(first + i) * mean] * 2 for i in range(RANK + 1)])
    torch.testing.assert_close(gradient(gathered, rows * (1 + RANK), x), expected)


def check_broadcast() -> None:
    x = torch.full((2,), float(RANK), requires_grad=True)
    root = SIZE - 1
    shared = torch_ops.broadcast(x, root, "b")
    same(shared, [float(root)] * 2)
    mean = sum(1.0 + r for r in RANKS) / SIZE
    same(gradient(shared, torch.tensor(1.0 + RANK), x), [mean if RANK == root else 0.0] * 2)
    y = x.detach().clone()
    same(torch_ops.broadcast_(y, 0, "b2"), [0.0, 0.0])


def check_alltoall() -> None:
    # Rank s sends r + 1 rows to rank r, and keeps one row that goes nowhere.
    splits = [r + 1 for r in RANKS]
    x = torch.full((sum(splits) + 1, 2), float(RANK), requires_grad=True)
    output, received = torch_ops.alltoall(x, splits, "a")
    same(output, [[float(s)] * 2 for s in RANKS for _ in range(RANK + 1)])
    same(received, [RANK + 1] * SIZE)
    back = gradient(output, torch.tensor(1.0 + RANK), x)
    same(back, [[1.0 + r] * 2 for r in RANKS for _ in range(r + 1)] + [[0.0, 0.0]])
    even = torch_ops.alltoall(torch.arange(float(SIZE)) + 10 * RANK, None, "even")
    assert isinstance(even, Tensor)
    same(even, [RANK + 10.0 * s for s in RANKS])


def check_reducescatter() -> None:
    rows = 2 * SIZE - 1  # the last rank gets one row less
    x = torch.arange(float(rows), requires_grad=True)
    share = torch_ops.reducescatter(x, "r", SUM, 2.0, 1.0)
    mine = list(range(2 * RANK, min(2 * RANK + 2, rows)))
    same(share, [2.0 * SIZE * i for i in mine])
    expected = [2.0 * SIZE * (1 + i // 2) for i in range(rows)]
    same(gradient(share, torch.tensor(1.0 + RANK), x), expected)


def check_errors() -> None:
    try:
        torch_ops.allreduce(torch.ones(2 + RANK), "mismatch")
    except RuntimeError as error:
        assert "Mismatched ALLREDUCE tensor shapes" in str(error), error
    else:
        raise AssertionError("shapes that differ were reduced")
    same(torch_ops.allreduce(torch.ones(1), "mismatch", SUM), [float(SIZE)])


def check_names_used_twice_at_once() -> None:
    # Started one after the other, waited for in an order of each rank's own.
    pending = [torch_ops.allreduce_async(torch.tensor([float(i)]), "twice", SUM) for i in range(4)]
    order = list(range(4)) if RANK % 2 == 0 else list(reversed(range(4)))
    results = {i: torch_ops.synchronize(pending[i]).item() for i in order}
    assert results == {i: float(i * SIZE) for i in range(4)}


check_allreduce()
check_allgather()
check_broadcast()
check_alltoall()
check_reducescatter()
check_errors()
check_names_used_twice_at_once()
torch_ops.barrier()
