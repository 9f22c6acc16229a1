"""Parameters of all sorts: unused, shared, frozen, added later, in other layouts and types."""

from typing import Any

import pytest
import torch
from training import (
    OPTIMIZERS,
    batches,
    close,
    distributed,
    loss,
    network,
    part,
    same_everywhere,
    train,
    weights,
)

import horovod.torch as hvd

SGD = OPTIMIZERS["SGD momentum"]


class Branches(torch.nn.Module):
    """Uses one of two layers, or both, or shares one."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.a, self.b = torch.nn.Linear(3, 3).double(), torch.nn.Linear(3, 3).double()

    def forward(self, x: torch.Tensor, use: str) -> torch.Tensor:
        for letter in use:
            x = {"a": self.a, "b": self.b}[letter](x)
        return x.sum()


def mean_gradients(uses: list[str], x: torch.Tensor) -> list[torch.Tensor]:
    """What the average over ranks must be; a gradient that is not there counts as zero."""
    total = [torch.zeros_like(p) for p in Branches().parameters()]
    for use in filter(None, uses):
        model = Branches()
        model(x, use).backward()
        for i, p in enumerate(model.parameters()):
            if p.grad is not None:
                total[i] += p.grad
    return [t / len(uses) for t in total]


@pytest.mark.parametrize("groups", [None, 1, 2])
@pytest.mark.parametrize("pattern", ["a", "ab", "first only b", "in turn", "shared", "none"])
def test_parameters_that_not_all_use(pattern: str, groups: Any, rank: int, size: int) -> None:
    uses = {
        "a": ["a"] * size,  # b is used by nobody
        "ab": ["ab"] * size,
        "first only b": ["b"] + ["ab"] * (size - 1),
        "in turn": ["ab" if r % 2 else "ba" for r in range(size)],
        "shared": ["aba"] * size,
        "none": [""] + ["ab"] * (size - 1),  # rank 0 has no gradient at all
    }[pattern]
    x = torch.ones(2, 3, dtype=torch.float64)
    model = Branches()
    before = weights(model)
    optimizer = distributed(model, lambda p: torch.optim.SGD(p, lr=0.5), groups=groups)
    for _ in range(2):
        for p, w in zip(model.parameters(), before):
            p.data.copy_(w)
        optimizer.zero_grad()
        if uses[rank]:
            model(x, uses[rank]).backward()
        optimizer.step()
        after = [w - 0.5 * g for w, g in zip(before, mean_gradients(uses, x))]
        assert close(weights(model), after) and same_everywhere(weights(model))


def test_one_layer_in_two_places() -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(1)
            self.first = torch.nn.Linear(5, 5).double()
            self.second = torch.nn.Linear(5, 5).double()
            self.second.weight = self.first.weight
            self.last = torch.nn.Linear(5, 2).double()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(self.second(torch.tanh(self.first(x))))

    model, other = Tied(), Tied()
    right = train(other, SGD(other.parameters()), batches())
    result = train(model, distributed(model, SGD), [part(b) for b in batches()])
    assert close(result, right)


@pytest.mark.parametrize("groups", [None, 1])
@pytest.mark.parametrize("compression", ["none", "fp16"])
def test_channels_last(groups: Any, compression: str, rank: int, size: int) -> None:
    """Gradients that lie in memory in another order, also differently from rank to rank."""

    def made(layout: Any) -> torch.nn.Module:
        torch.manual_seed(2)
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten())
        return model.to(memory_format=layout)

    generator = torch.Generator().manual_seed(9)
    images = torch.randint(-2, 3, (2 * size, 3, 5, 5), generator=generator).float()
    other = made(torch.contiguous_format)
    plain = torch.optim.SGD(other.parameters(), lr=0.125, momentum=0.5)
    layout = torch.channels_last if rank % 2 == 0 else torch.contiguous_format
    model = made(layout)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.125, momentum=0.5),
        model.named_parameters(),
        groups=groups,
        compression=getattr(hvd.Compression, compression),
    )
    for _ in range(2):
        plain.zero_grad()
        (other(images).sum() / len(images)).backward()
        plain.step()
        optimizer.zero_grad()
        mine = images[2 * rank : 2 * rank + 2].to(memory_format=layout)
        (model(mine).sum() / 2).backward()
        if rank == 0:
            assert not model[0].weight.grad.is_contiguous()
        optimizer.step()
        for p in model.parameters():
            assert p.grad.is_contiguous() == (p.dim() == 1 or layout is torch.contiguous_format)
    assert close(weights(model), weights(other), 1e-5 if compression == "none" else 1e-2)


def test_frozen_parameters(size: int) -> None:
    model, other = network(), network()
    for m in (model, other):
        m[0].weight.requires_grad_(False)
    right = train(other, SGD(other.parameters()), batches())
    result = train(model, distributed(model, SGD), [part(b) for b in batches()])
    assert close(result, right) and model[0].weight.grad is None


def test_add_param_group(size: int) -> None:
    """As in fine-tuning: layers thaw one after the other."""

    def thawing(model: torch.nn.Module, wrap: Any, data: Any) -> list[torch.Tensor]:
        model[2].requires_grad_(False)
        optimizer = wrap(SGD(model[0].parameters()))
        train(model, optimizer, data[:2])
        model[2].requires_grad_(True)
        optimizer.add_param_group({"params": list(model[2].parameters()), "lr": 0.05})
        return train(model, optimizer, data[2:])

    right = thawing(network(), lambda optimizer: optimizer, batches())
    result = thawing(network(), hvd.DistributedOptimizer, [part(b) for b in batches()])
    assert close(result, right) and same_everywhere(result)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_types_of_parameters(dtype: torch.dtype, rank: int, size: int) -> None:
    model = torch.nn.Linear(4, 1, bias=False, dtype=dtype)
    torch.nn.init.zeros_(model.weight)
    optimizer = distributed(model, lambda p: torch.optim.SGD(p, lr=1.0))
    model(torch.full((1, 4), float(rank + 1), dtype=dtype)).sum().backward()
    optimizer.step()
    assert model.weight.dtype == dtype
    right = torch.tensor((size + 1) / 2, dtype=dtype)
    assert torch.allclose(model.weight, -right.expand(1, 4))


def test_two_optimizers_side_by_side(rank: int, size: int) -> None:
    """As in adversarial training: backward of one while the other's gradients are on their way."""
    models, others = [network(), network()], [network(), network()]
    optimizers = [
        distributed(m, SGD, named_parameters=[(f"{i}.{n}", p) for n, p in m.named_parameters()])
        for i, m in enumerate(models)
    ]
    plain = [SGD(m.parameters()) for m in others]
    for batch in batches():
        for m, o in zip(models, optimizers):
            o.zero_grad()
            loss(m, part(batch)).backward()
        for o in reversed(optimizers):
            o.step()
        for m, o in zip(others, plain):
            o.zero_grad()
            loss(m, batch).backward()
            o.step()
    for m, other in zip(models, others):
        assert close(weights(m), weights(other))
