"""Gradients of the collectives, by Horovod's rules: see every check's first line."""

from typing import Any, Callable

import pytest
import torch
from expected import everybodys, rows_of

import horovod.torch as hvd


def weights(what: str, shape: Any) -> list[torch.Tensor]:
    """What every rank multiplies its result by before it sums up: the incoming gradients."""
    return everybodys(f"weights {what}", torch.float64, shape)


def leaf(values: torch.Tensor) -> torch.Tensor:
    return values.clone().requires_grad_()


def reduced(tensors: list[torch.Tensor], op: int) -> torch.Tensor:
    stacked = torch.stack(tensors)
    if op == hvd.Min:
        return stacked.amin(0)
    if op == hvd.Max:
        return stacked.amax(0)
    if op == hvd.Product:
        return stacked.prod(0)
    return stacked.sum(0) / (len(tensors) if op == hvd.Average else 1)


@pytest.mark.parametrize("op", [hvd.Average, hvd.Sum, hvd.Min, hvd.Max, hvd.Product])
@pytest.mark.parametrize("shape", [(), (5,), (2, 0), (3, 4)], ids=str)
def test_allreduce(op: int, shape: Any, rank: int, size: int) -> None:
    """The same allreduce of the incoming gradient, whatever the operation is."""
    x, w = leaf(everybodys("x", torch.float64, shape)[rank]), weights("allreduce", shape)
    y = hvd.allreduce(x, op=op)
    assert y.requires_grad
    (y * w[rank]).sum().backward()
    assert torch.allclose(x.grad, reduced(w, op))


def test_allreduce_with_factors(rank: int, size: int) -> None:
    """With the same factors."""
    x, w = leaf(torch.ones(4, dtype=torch.float64)), weights("factors", (4,))
    y = hvd.allreduce(x, op=hvd.Sum, prescale_factor=0.5, postscale_factor=3.0)
    (y * w[rank]).sum().backward()
    assert torch.allclose(x.grad, 1.5 * reduced(w, hvd.Sum))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_allreduce_of_other_types(dtype: torch.dtype, rank: int, size: int) -> None:
    """The gradient has the type of the tensor."""
    x = leaf(torch.ones(4, dtype=dtype))
    hvd.allreduce(x, op=hvd.Sum).sum().backward()
    assert x.grad.dtype == dtype and x.grad.tolist() == [float(size)] * 4


def test_grouped_allreduce(rank: int, size: int) -> None:
    """The same grouped allreduce of the gradients."""
    shapes = [(3,), (2, 2), (1,)]
    xs = [leaf(everybodys("x", torch.float64, shape)[rank]) for shape in shapes]
    ws = [weights("grouped", shape) for shape in shapes]
    ys = hvd.grouped_allreduce(xs, op=hvd.Sum, prescale_factor=2.0)
    sum((y * w[rank]).sum() for y, w in zip(ys, ws)).backward()
    for x, w in zip(xs, ws):
        assert torch.allclose(x.grad, 2.0 * reduced(w, hvd.Sum))


def test_a_member_of_a_group_that_is_not_used(rank: int, size: int) -> None:
    """It gets zeros, since the others of the group travel with it."""
    used, unused = leaf(torch.ones(2)), leaf(torch.ones(3))
    y, _ = hvd.grouped_allreduce([used, unused], op=hvd.Sum)
    y.sum().backward()
    assert used.grad.tolist() == [size] * 2
    assert unused.grad is None or unused.grad.eq(0).all()


def test_allreduce_compressed(rank: int, size: int) -> None:
    """Through the cast and back: the gradient travels in the small type too."""
    x = leaf(torch.full((3,), 1.0))
    y = hvd.allreduce(x, op=hvd.Sum, compression=hvd.Compression.fp16)
    assert y.dtype == torch.float32
    (y * (1 + 2**-12)).sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [float(size)] * 3


@pytest.mark.parametrize("shape", [(3,), (2, 4)], ids=str)
def test_allgather(shape: Any, rank: int, size: int) -> None:
    """This rank's rows of the average of the incoming gradients."""
    rest = shape[1:]
    rows = [r + 1 for r in range(size)]
    x = leaf(torch.ones(rows[rank], *rest, dtype=torch.float64))
    w = weights("allgather", (sum(rows), *rest))
    (hvd.allgather(x) * w[rank]).sum().backward()
    first = sum(rows[:rank])
    assert torch.allclose(x.grad, reduced(w, hvd.Average)[first : first + rows[rank]])


def test_allgather_of_no_rows(rank: int, size: int) -> None:
    """A rank that gave nothing gets nothing."""
    x = leaf(torch.ones(0 if rank == 0 else 2, 3))
    hvd.allgather(x).sum().backward()
    assert x.grad.shape == x.shape and x.grad.eq(1).all()


def test_grouped_allgather(rank: int, size: int) -> None:
    """As of allgather, for each."""
    x, y = leaf(torch.ones(rank + 1, dtype=torch.float64)), leaf(torch.ones(2, 3).double())
    wx, wy = weights("gx", (size * (size + 1) // 2,)), weights("gy", (2 * size, 3))
    gx, gy = hvd.grouped_allgather([x, y])
    ((gx * wx[rank]).sum() + (gy * wy[rank]).sum()).backward()
    first = rank * (rank + 1) // 2
    assert torch.allclose(x.grad, reduced(wx, hvd.Average)[first : first + rank + 1])
    assert torch.allclose(y.grad, reduced(wy, hvd.Average)[2 * rank : 2 * rank + 2])


def test_broadcast(rank: int, size: int) -> None:
    """The root gets the average, the others zeros."""
    for root in range(size):
        x, w = leaf(torch.ones(2, 3, dtype=torch.float64)), weights(f"broadcast {root}", (2, 3))
        (hvd.broadcast(x, root) * w[rank]).sum().backward()
        right = reduced(w, hvd.Average) if rank == root else torch.zeros(2, 3).double()
        assert torch.allclose(x.grad, right)


def test_alltoall(rank: int, size: int) -> None:
    """Every row's gradient goes back to where the row came from."""
    x = leaf(torch.arange(2.0 * size).view(2 * size, 1))
    y = hvd.alltoall(x)
    (y * (rank + 1)).sum().backward()
    assert x.grad.flatten().tolist() == [float(r + 1) for r in range(size) for _ in "ab"]


def test_alltoall_with_splits(rank: int, size: int) -> None:
    """Rows that were not sent have no part in it: their gradient is zero."""
    splits = [r % 3 for r in range(size)]
    x = leaf(torch.ones(sum(splits) + 2, 3))
    y, received = hvd.alltoall(x, splits=splits)
    assert not received.requires_grad
    (y * (rank + 1)).sum().backward()
    right = [float(r + 1) for r in range(size) for _ in range(splits[r])] + [0.0, 0.0]
    assert x.grad.shape == x.shape and x.grad[:, 0].tolist() == right


@pytest.mark.parametrize("op", [hvd.Average, hvd.Sum])
def test_reducescatter(op: int, rank: int, size: int) -> None:
    """The gradients of all rows, times the number of ranks for a sum, times the factors."""
    rows = 2 * size + 1
    x = leaf(torch.ones(rows, 2, dtype=torch.float64))
    y = hvd.reducescatter(x, op=op, prescale_factor=0.5, postscale_factor=3.0)
    (y * (rank + 1)).sum().backward()
    factor = 1.5 * (size if op == hvd.Sum else 1)
    for r in range(size):
        assert x.grad[rows_of(r, rows, size)].eq(factor * (r + 1)).all()


def test_reducescatter_does_not_change_the_incoming_gradient(rank: int, size: int) -> None:
    """It belongs to whoever made it."""
    x = leaf(torch.ones(size, dtype=torch.float64))
    incoming = torch.full((1,), 2.0, dtype=torch.float64)
    hvd.reducescatter(x, op=hvd.Sum).backward(incoming)
    assert incoming.item() == 2.0 and x.grad.tolist() == [2.0 * size] * size


def test_grouped_reducescatter(rank: int, size: int) -> None:
    """As of reducescatter, for each."""
    xs = [leaf(torch.ones(size, 2)), leaf(torch.ones(2 * size))]
    ys = hvd.grouped_reducescatter(xs, op=hvd.Sum)
    sum(y.sum() * (rank + 1) for y in ys).backward()
    assert xs[0].grad[:, 0].tolist() == [float(size * (r + 1)) for r in range(size)]
    assert xs[1].grad.tolist() == [float(size * (r + 1)) for r in range(size) for _ in "ab"]


FORMS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    lambda x: hvd.allreduce(x, op=hvd.Sum),
    lambda x: hvd.allgather(x),
    lambda x: hvd.broadcast(x, 0),
    lambda x: hvd.alltoall(x),
    lambda x: hvd.reducescatter(x, op=hvd.Sum),
    lambda x: hvd.grouped_allreduce([x], op=hvd.Sum)[0],
    lambda x: hvd.grouped_allgather([x])[0],
    lambda x: hvd.grouped_reducescatter([x])[0],
]


@pytest.mark.parametrize("form", FORMS)
def test_a_result_used_twice(form: Callable[..., torch.Tensor], rank: int, size: int) -> None:
    """Both uses count, also through a second collective on top of the first."""
    once, twice = leaf(torch.ones(size, 2)), leaf(torch.ones(size, 2))
    form(once).mul(3).sum().backward()
    y = form(twice)
    (y.sum() + 2 * y.sum()).backward()
    assert torch.allclose(twice.grad, once.grad)
    x = leaf(torch.ones(2, 2))
    hvd.allreduce(hvd.allreduce(x, op=hvd.Sum), op=hvd.Sum).sum().backward()
    assert x.grad.tolist() == [[size * size] * 2] * 2


@pytest.mark.parametrize("form", FORMS)
def test_a_tensor_used_twice(form: Callable[..., torch.Tensor], rank: int, size: int) -> None:
    """Its gradient is the sum over both calls."""
    once, twice = leaf(torch.ones(size, 2)), leaf(torch.ones(size, 2))
    form(once).sum().backward()
    (form(twice) + form(twice)).sum().backward()
    assert torch.allclose(twice.grad, 2 * once.grad)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_recorded_without_need(form: Callable[..., torch.Tensor], size: int) -> None:
    """A tensor without gradient, or no_grad(): the result has none."""
    assert not form(torch.ones(size, 2)).requires_grad
    with torch.no_grad():
        assert not form(leaf(torch.ones(size, 2))).requires_grad


@pytest.mark.parametrize("form", FORMS)
def test_gradients_with_gaps(form: Callable[..., torch.Tensor], size: int) -> None:
    """What arrives need not lie in a row: sum() gives one number stretched, t() columns."""
    x = leaf(torch.ones(size, 2))
    form(x).t().contiguous().sum().backward()
    assert x.grad.shape == x.shape


def test_integers_have_no_gradient(size: int) -> None:
    """They pass."""
    assert hvd.allreduce(torch.ones(2, dtype=torch.int64), op=hvd.Sum).tolist() == [size] * 2


def test_in_place_on_a_part_of_a_graph(rank: int, size: int) -> None:
    """Not differentiable: what it does is not seen by autograd."""
    x = leaf(torch.full((3,), 2.0))
    y = x * 1
    hvd.allreduce_(y.detach(), op=hvd.Sum)
    y.sum().backward()
    assert y.tolist() == [2.0 * size] * 3 and x.grad.tolist() == [1.0] * 3
