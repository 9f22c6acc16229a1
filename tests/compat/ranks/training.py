"""The same training twice: by one process with the whole batch, by all ranks with their part."""

from __future__ import annotations

from typing import Any, Callable

import torch
from expected import SEED

import horovod.torch as hvd

STEPS, ROWS = 4, 4  # rows of each rank's batch

Make = Callable[[Any], torch.optim.Optimizer]
OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "SGD momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "SGD nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "Adam amsgrad": lambda p: torch.optim.Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1),
    "Adam foreach": lambda p: torch.optim.Adam(p, lr=0.1, foreach=True),
    "Adam fused": lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.1),
    "Adamax": lambda p: torch.optim.Adamax(p, lr=0.1),
    "Adadelta": lambda p: torch.optim.Adadelta(p, lr=0.1),
    "Adafactor": lambda p: torch.optim.Adafactor(p, lr=0.1),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "ASGD": lambda p: torch.optim.ASGD(p, lr=0.1),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.1),
    "RAdam": lambda p: torch.optim.RAdam(p, lr=0.1),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.1, momentum=0.5, centered=True),
    "Rprop": lambda p: torch.optim.Rprop(p, lr=0.1),
}


def network(**how: Any) -> torch.nn.Module:
    """The same on all ranks."""
    torch.manual_seed(SEED)
    return torch.nn.Sequential(
        torch.nn.Linear(5, 7, **how), torch.nn.Tanh(), torch.nn.Linear(7, 2, **how)
    ).double()


def batches(steps: int = STEPS) -> list[list[torch.Tensor]]:
    """The whole batch of every step: inputs and targets, one rank's rows after the other's."""
    generator = torch.Generator().manual_seed(SEED + 1)
    rows = ROWS * hvd.size()

    def numbers(columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator, dtype=torch.float64)

    return [[numbers(5), numbers(2)] for _ in range(steps)]


def part(batch: list[torch.Tensor], rank: int | None = None) -> list[torch.Tensor]:
    first = (hvd.rank() if rank is None else rank) * ROWS
    return [tensor[first : first + ROWS] for tensor in batch]


def loss(model: torch.nn.Module, batch: list[torch.Tensor]) -> torch.Tensor:
    x, target = batch
    return torch.nn.functional.mse_loss(model(x), target)


def train(
    model: torch.nn.Module,
    optimizer: Any,
    data: list[list[torch.Tensor]],
    each: Callable[[], None] = lambda: None,
) -> list[torch.Tensor]:
    """Plain training; returns the weights."""
    for batch in data:
        optimizer.zero_grad()
        loss(model, batch).backward()
        optimizer.step()
        each()
    return weights(model)


def weights(model: torch.nn.Module) -> list[torch.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


def alone(make: Make, steps: int = STEPS) -> list[torch.Tensor]:
    """One process with everybody's rows."""
    model = network()
    return train(model, make(model.parameters()), batches(steps))


def distributed(model: torch.nn.Module, make: Make, **how: Any) -> Any:
    how.setdefault("named_parameters", model.named_parameters())
    return hvd.DistributedOptimizer(make(model.parameters()), **how)


def together(make: Make, steps: int = STEPS, **how: Any) -> list[torch.Tensor]:
    """All ranks with their own rows."""
    model = network()
    return train(model, distributed(model, make, **how), [part(b) for b in batches(steps)])


def close(a: list[torch.Tensor], b: list[torch.Tensor], tolerance: float = 1e-9) -> bool:
    return len(a) == len(b) and all(
        torch.allclose(x, y, rtol=tolerance, atol=tolerance) for x, y in zip(a, b)
    )


def same_everywhere(tensors: list[torch.Tensor]) -> bool:
    """All ranks have these very bits."""
    flat = torch.cat([t.detach().double().flatten() for t in tensors])
    everybody = hvd.allgather(flat[None], name="same everywhere")
    return all(torch.equal(everybody[0], other) for other in everybody)
