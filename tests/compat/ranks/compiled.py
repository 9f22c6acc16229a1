"""torch.compile(fullgraph=True) over code that calls hvd: the same numbers as without it."""

from typing import Any, List, Tuple

import pytest
import torch
from expected import everybodys
from optimizer_split import SGD, check_same, deep, plain_loop
from training import same_everywhere
from training import weights as weights_of

import horovod.torch as hvd

Step = Tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def training_step(w1: Any, w2: Any, x: torch.Tensor, y: torch.Tensor) -> Step:
    """Forward, backward, averaged gradients, update, averaged loss; one tensor has no name."""
    hidden = torch.relu(x @ w1)
    error = hidden @ w2 - y
    loss = (error * error).mean()
    grad_out = 2 * error / error.numel()
    grad2 = hidden.t() @ grad_out
    grad1 = x.t() @ ((grad_out @ w2.t()) * (hidden > 0))
    grad1 = hvd.allreduce(grad1, name="compiled.grad1")
    grad2 = hvd.allreduce(grad2, name="compiled.grad2")
    return w1 - 0.1 * grad1, w2 - 0.1 * grad2, hvd.allreduce(loss)


def run(step: Any, batches: List[Any]) -> Step:
    w1, w2 = torch.full((8, 16), 0.1), torch.full((16, 1), 0.2)
    for x, y in batches:
        w1, w2, loss = step(w1, w2, x, y)
    return w1, w2, loss


def test_a_training_step(rank: int) -> None:
    """Eager and compiled steps end at the same weights, on every rank."""
    xs = [everybodys(f"x{i}", torch.float32, (4, 8))[rank] for i in range(4)]
    ys = [everybodys(f"y{i}", torch.float32, (4, 1))[rank] for i in range(4)]
    batches = list(zip(xs, ys))
    plain = run(training_step, batches)
    compiled = run(torch.compile(training_step, fullgraph=True), batches)
    for one, other in zip(plain, compiled):
        torch.testing.assert_close(one, other)
    for weights in compiled[:2]:
        assert torch.equal(hvd.broadcast(weights, 0), weights)


def all_kinds(x: torch.Tensor) -> torch.Tensor:
    gathered = hvd.allgather(x, name="compiled.gather")
    root = hvd.broadcast(x, 0, name="compiled.root")
    doubled = x * 2
    hvd.allreduce_(doubled, name="compiled.in_place", op=hvd.Sum)
    handle = hvd.allreduce_async(x, name="compiled.async", op=hvd.Max)
    group = hvd.grouped_allreduce([x, x + 1], name="compiled.group")
    share = hvd.reducescatter(x, name="compiled.scatter", op=hvd.Sum)
    return (
        gathered.sum()
        + root.sum()
        + doubled.sum()
        + hvd.synchronize(handle).sum()
        + sum(one.sum() for one in group)
        + share.sum()
    )


def test_every_kind_of_collective(rank: int, size: int) -> None:
    """Gather, broadcast, in place, asynchronous, grouped and scattered, in one graph."""
    x = everybodys("kinds", torch.float64, (size, 3))[rank]
    expected = all_kinds(x)
    torch.testing.assert_close(torch.compile(all_kinds, fullgraph=True)(x), expected)


def test_gradients_flow_through_a_compiled_allreduce(rank: int, size: int) -> None:
    """As they do without compiling: the same allreduce of the incoming gradient."""

    def loss(x: torch.Tensor) -> torch.Tensor:
        return (hvd.allreduce(x * x, name="compiled.loss", op=hvd.Sum) * (1.0 + 0 * x)).sum()

    x = torch.full((5,), float(rank + 1), requires_grad=True)
    torch.compile(loss, fullgraph=True)(x).backward()
    torch.testing.assert_close(x.grad, torch.full((5,), 2.0 * (rank + 1) * size))


def test_an_error_reaches_the_caller(rank: int) -> None:
    """Ranks that disagree hear why, and go on."""
    reduce = torch.compile(lambda x: hvd.allreduce(x, name="compiled.mismatch"), fullgraph=True)
    with pytest.raises(RuntimeError, match="Mismatched ALLREDUCE tensor shapes"):
        reduce(torch.ones(3 + rank))
    assert reduce(torch.ones(7)).tolist() == [1.0] * 7


def test_split_allreduce(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a compiled model's updates are done before it is called; inside, nobody is asked."""
    monkeypatch.setenv("HOROVODX_SPLIT_BUCKET", "200")
    optimizer, later = check_same(
        plain_loop, model=lambda: torch.compile(deep(), backend="eager")
    )
    assert later == len(optimizer._buckets) > 1
    torch._dynamo.reset()  # hooks are not among what decides whether compiled code fits
    model = deep()
    optimizer = hvd.DistributedOptimizer(
        SGD(model.parameters()), model.named_parameters(), split_allreduce=True
    )
    plain_loop(model, optimizer)
    # Hooks are inside now, and still called: the graph breaks there.
    plain_loop(torch.compile(model, backend="eager"), optimizer)
    optimizer.flush()
    assert same_everywhere(weights_of(model))
