"""How gradients travel: groups, operations, compression, several passes before a step."""

from typing import Any

import pytest
import torch
from training import (
    OPTIMIZERS,
    alone,
    batches,
    close,
    distributed,
    loss,
    network,
    part,
    same_everywhere,
    together,
    train,
    weights,
)

import horovod.torch as hvd

SGD = OPTIMIZERS["SGD momentum"]
ADAM = OPTIMIZERS["Adam"]


@pytest.mark.parametrize("make", [SGD, ADAM], ids=["SGD", "Adam"])
@pytest.mark.parametrize("groups", [1, 2, 3, 100])
def test_groups_by_number(make: Any, groups: int) -> None:
    assert close(together(make, groups=groups), alone(make))


def test_groups_by_lists() -> None:
    model = network()
    a, b, c, _d = model.parameters()
    optimizer = distributed(model, SGD, groups=[[a, c], [b]])  # d is a group of its own
    result = train(model, optimizer, [part(batch) for batch in batches()])
    assert close(result, alone(SGD)) and same_everywhere(result)


def test_num_groups_is_deprecated() -> None:
    with pytest.warns(DeprecationWarning, match="num_groups"):
        result = together(SGD, num_groups=2)
    assert close(result, alone(SGD))


def test_without_names() -> None:
    assert close(together(SGD, named_parameters=None), alone(SGD))


def test_sum(size: int) -> None:
    """A sum with an n-th of the learning rate is the average."""

    def make(parameters: Any) -> Any:
        return torch.optim.SGD(parameters, lr=0.1 / size)

    assert close(together(make, op=hvd.Sum), alone(OPTIMIZERS["SGD"]))


@pytest.mark.parametrize("op", [hvd.Min, hvd.Max, hvd.Product], ids=["Min", "Max", "Product"])
def test_other_operations(op: int, rank: int, size: int) -> None:
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = distributed(model, lambda p: torch.optim.SGD(p, lr=1.0), op=op)
    model(torch.full((1, 2), rank + 1.0)).sum().backward()
    optimizer.step()
    factorial = 1
    for r in range(size):
        factorial *= r + 1
    right = {hvd.Min: 1, hvd.Max: size, hvd.Product: factorial}[op]
    assert model.weight.tolist() == [[-float(right)] * 2]


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.0])
def test_predivide(factor: float) -> None:
    assert close(together(SGD, gradient_predivide_factor=factor), alone(SGD))
    assert close(together(SGD, gradient_predivide_factor=factor, groups=2), alone(SGD))


@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_compression(name: str) -> None:
    compression = getattr(hvd.Compression, name)
    exact = alone(SGD)
    for how in ({}, {"groups": 2}):
        result = together(SGD, compression=compression, **how)
        assert close(result, exact, 0.01 if name == "fp16" else 0.05) and same_everywhere(result)
        assert all(t.dtype == torch.float64 for t in result)
        if hvd.size() > 1:
            assert not close(result, exact, 1e-9), "nothing was compressed"


def test_a_compressor_of_the_users_own(size: int) -> None:
    seen = []

    class Doubles:
        @staticmethod
        def compress(tensor: torch.Tensor) -> Any:
            seen.append(tensor.shape)
            return tensor * 2, "ctx"

        @staticmethod
        def decompress(tensor: torch.Tensor, ctx: Any) -> torch.Tensor:
            assert ctx == "ctx"
            return tensor / 2

    assert close(together(SGD, compression=Doubles), alone(SGD))
    assert len(seen) == (16 if size > 1 else 0)


def test_backward_passes_per_step(size: int) -> None:
    """Gradients of k passes are added up, not averaged."""
    model, other = network(), network()
    optimizer = distributed(model, SGD, backward_passes_per_step=2)
    plain = SGD(other.parameters())
    for first, second in zip(batches()[::2], batches()[1::2]):
        optimizer.zero_grad()
        loss(model, part(first)).backward()
        loss(model, part(second)).backward()
        optimizer.step()
        plain.zero_grad()
        loss(other, first).backward()
        loss(other, second).backward()
        plain.step()
    assert close(weights(model), weights(other)) and same_everywhere(weights(model))


def test_too_many_backward_passes(rank: int, size: int) -> None:
    if size == 1:
        pytest.skip("the plain optimizer")
    for passes in (1, 2):
        model = network()
        optimizer = distributed(model, SGD, backward_passes_per_step=passes)
        data = part(batches(1)[0])
        for _ in range(passes):
            loss(model, data).backward()
        with pytest.raises(
            AssertionError, match="Gradients were computed more than backward_passes_per_step times"
        ):
            loss(model, data).backward()
        optimizer.step()
        optimizer.zero_grad()


def test_fewer_backward_passes_than_announced(size: int) -> None:
    """step() sends what is there."""
    model, other = network(), network()
    optimizer = distributed(model, SGD, backward_passes_per_step=5)
    plain = SGD(other.parameters())
    for batch in batches():
        optimizer.zero_grad()
        loss(model, part(batch)).backward()
        optimizer.step()
        plain.zero_grad()
        loss(other, batch).backward()
        plain.step()
    assert close(weights(model), weights(other))


def test_set_backward_passes_per_step() -> None:
    model = network()
    optimizer = distributed(model, SGD, backward_passes_per_step=2)
    optimizer.set_backward_passes_per_step(1)
    assert optimizer.backward_passes_per_step == 1
    result = train(model, optimizer, [part(b) for b in batches()])
    assert close(result, alone(SGD))
