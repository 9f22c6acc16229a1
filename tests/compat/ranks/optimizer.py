"""DistributedOptimizer: n ranks with a batch of b do what one process does with n times b."""

import functools
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


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_equals_one_process(name: str) -> None:
    result = together(OPTIMIZERS[name])
    assert close(result, alone(OPTIMIZERS[name])) and same_everywhere(result)


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="this torch has none")
def test_muon_equals_one_process() -> None:
    def make(parameters: Any) -> Any:
        return torch.optim.Muon(parameters, lr=0.1)

    model, other = network(bias=False), network(bias=False)
    right = train(other, make(other.parameters()), batches())
    result = train(model, distributed(model, make), [part(b) for b in batches()])
    # It calculates in bfloat16, where the last bit of a gradient may count.
    assert close(result, right, 0.02) and same_everywhere(result)


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
@pytest.mark.parametrize("op", [hvd.Average, hvd.Sum], ids=["Average", "Sum"])
def test_lbfgs_equals_one_process(line_search: Any, op: int, size: int) -> None:
    factor = size if op == hvd.Sum else 1

    def trained(model: torch.nn.Module, optimizer: Any, data: Any, factor: float) -> Any:
        for batch in data:

            def closure(batch: list[torch.Tensor] = batch) -> torch.Tensor:
                optimizer.zero_grad()
                value = loss(model, batch) * factor
                value.backward()
                return value

            optimizer.step(closure)
        return weights(model)

    def make(parameters: Any) -> Any:
        return torch.optim.LBFGS(parameters, lr=0.1, max_iter=4, line_search_fn=line_search)

    model, other = network(), network()
    right = trained(other, make(other.parameters()), batches(2), factor)
    result = trained(model, distributed(model, make, op=op), [part(b) for b in batches(2)], 1)
    assert close(result, right, 1e-6) and same_everywhere(result)


def test_every_optimizer_of_torch_is_here() -> None:
    theirs = {
        name
        for name, cls in vars(torch.optim).items()
        if isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer)
    } - {"Optimizer"}
    elsewhere = {"Muon", "LBFGS", "SparseAdam"}
    assert theirs <= {name.split()[0] for name in OPTIMIZERS} | elsewhere


def test_to_the_last_bit(rank: int, size: int) -> None:
    """With numbers that float32 holds exactly, in whatever order they are added."""
    if size == 3:
        pytest.skip("a third is not exact")
    generator = torch.Generator().manual_seed(3)
    inputs = torch.randint(-8, 9, (3, 4 * size, 6), generator=generator).float()
    signs = torch.randint(-1, 2, (3, 4 * size, 2), generator=generator).float()

    def run(optimize: Any, rows: slice, count: int) -> list[torch.Tensor]:
        model = torch.nn.Linear(6, 2)
        for p in model.parameters():
            torch.nn.init.constant_(p, 0.125)
        optimizer = optimize(model)
        for x, sign in zip(inputs, signs):
            optimizer.zero_grad()
            ((model(x[rows]) * sign[rows]).sum() / count).backward()
            optimizer.step()
        return weights(model)

    def sgd(model: torch.nn.Module) -> Any:
        return torch.optim.SGD(model.parameters(), lr=0.25, momentum=0.5)

    right = run(sgd, slice(None), 4 * size)
    mine = slice(4 * rank, 4 * rank + 4)
    for how in ({}, {"groups": 1}, {"gradient_predivide_factor": 2.0}):
        wrap = functools.partial(hvd.DistributedOptimizer, **how)
        result = run(lambda m, wrap=wrap: wrap(sgd(m), m.named_parameters()), mine, 4)
        assert all(torch.equal(a, b) for a, b in zip(result, right))
