"""Sparse gradients, as those of embeddings."""

from typing import Any

import pytest
import torch
from training import OPTIMIZERS, close, distributed, same_everywhere, weights

import horovod.torch as hvd


def table_loss(table: torch.nn.Embedding, rows: torch.Tensor) -> torch.Tensor:
    return (table(rows) ** 2).sum()


@pytest.mark.parametrize("as_dense", [False, True], ids=["sparse", "as dense"])
@pytest.mark.parametrize("kind", ["SGD", "SparseAdam", "Adagrad"])
def test_embeddings(kind: str, as_dense: bool, rank: int, size: int) -> None:
    def made() -> torch.nn.Embedding:
        torch.manual_seed(4)
        return torch.nn.Embedding(6, 3, sparse=True).double()

    def make(parameters: Any) -> Any:
        return getattr(torch.optim, kind)(list(parameters), lr=0.1)

    # Rows that several ranks look up, one of them twice, and one that nobody looks up.
    rows = [torch.tensor([r, (r + 1) % 5, 4, 4]) for r in range(size)]
    model, other = made(), made()
    optimizer = distributed(model, make, sparse_as_dense=as_dense)
    plain = make(other.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        table_loss(model, rows[rank]).backward()
        optimizer.step()
        assert model.weight.grad.is_sparse
        plain.zero_grad()
        (sum(table_loss(other, r) for r in rows) / size).backward()
        plain.step()
    assert close(weights(model), weights(other)) and same_everywhere(weights(model))


def test_an_embedding_and_layers_in_groups(rank: int, size: int) -> None:
    def made() -> torch.nn.Module:
        torch.manual_seed(4)
        return torch.nn.Sequential(torch.nn.Embedding(6, 3, sparse=True), torch.nn.Linear(3, 1))

    model, other = made().double(), made().double()
    optimizer = distributed(model, OPTIMIZERS["SGD"], groups=1)
    plain = OPTIMIZERS["SGD"](other.parameters())
    rows = [torch.tensor([r, 5]) for r in range(size)]
    for _ in range(3):
        optimizer.zero_grad()
        model(rows[rank]).sum().backward()
        optimizer.step()
        plain.zero_grad()
        (sum(other(r).sum() for r in rows) / size).backward()
        plain.step()
    assert close(weights(model), weights(other))


@pytest.mark.parametrize("as_dense", [False, True], ids=["sparse", "as dense"])
@pytest.mark.parametrize("kind", ["SGD", "SparseAdam"])
def test_a_rank_that_looks_nothing_up(kind: str, as_dense: bool, rank: int, size: int) -> None:
    """It has looked up before: its part of the sum is empty."""

    def made() -> torch.nn.Embedding:
        torch.manual_seed(4)
        return torch.nn.Embedding(6, 3, sparse=True).double()

    def make(parameters: Any) -> Any:
        return getattr(torch.optim, kind)(list(parameters), lr=0.1)

    model, other = made(), made()
    optimizer = distributed(model, make, sparse_as_dense=as_dense)
    plain = make(other.parameters())
    for step in range(3):
        rows = [torch.tensor([r, 5]) for r in range(size if step != 1 else size - 1)]
        optimizer.zero_grad()
        if rank < len(rows):
            table_loss(model, rows[rank]).backward()
        optimizer.step()
        plain.zero_grad()
        if rows:
            (sum(table_loss(other, r) for r in rows) / size).backward()
        plain.step()
    assert close(weights(model), weights(other)) and same_everywhere(weights(model))


class TableAndLayer(torch.nn.Module):
    """Uses of the same weight: rows looked up give a sparse gradient, all of it a dense one."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.table = torch.nn.Embedding(6, 3, sparse=True).double()
        self.layer = torch.nn.Linear(3, 1).double()

    def forward(self, use: str, number: int) -> torch.Tensor:
        x = torch.full((2, 3), 1.0 + number, dtype=torch.float64)
        if "s" in use:
            x = x + self.table(torch.tensor([number % 5, 5]))
        if "d" in use:
            x = x + (self.table.weight**2).sum()
        return self.layer(x).sum()


FIRST_USES = {
    "never": ["s", "-", "-"],  # only rank 0 ever looks up
    "later": ["s", "s-", "-s"],  # the others once each, in turns
    "nobody at first": ["--s", "---", "-"],
    "differently": ["s", "d", "-"],
    "differently later": ["sss", "-sd", "s-d"],
}


@pytest.mark.parametrize("groups", [None, 1])
@pytest.mark.parametrize("as_dense", [False, True], ids=["sparse", "as dense"])
@pytest.mark.parametrize("uses", FIRST_USES)
def test_a_rank_without_a_gradient_so_far(
    uses: str, as_dense: bool, groups: Any, rank: int, size: int
) -> None:
    """It cannot know that others' are sparse; nobody waits, and all get the same."""
    model, other = TableAndLayer(), TableAndLayer()
    optimizer = distributed(model, OPTIMIZERS["SGD"], sparse_as_dense=as_dense, groups=groups)
    plain = OPTIMIZERS["SGD"](other.parameters())
    for step in range(4):
        now = [FIRST_USES[uses][r % 3] for r in range(size)]
        now = [use[step % len(use)] for use in now]
        optimizer.zero_grad()
        model(now[rank], rank).backward()
        optimizer.step()
        plain.zero_grad()
        (sum(other(use, r) for r, use in enumerate(now)) / size).backward()
        plain.step()
    assert close(weights(model), weights(other)) and same_everywhere(weights(model))


@pytest.mark.parametrize("as_dense", [False, True], ids=["sparse", "as dense"])
def test_sparse_adam_gets_what_it_takes(as_dense: bool, rank: int, size: int) -> None:
    """Sparse gradients also where there are none, for a while on all ranks."""
    torch.manual_seed(4)
    model = torch.nn.Embedding(6, 3, sparse=True).double()
    before = weights(model)[0]
    optimizer = distributed(
        model, lambda p: torch.optim.SparseAdam(list(p), lr=0.1), sparse_as_dense=as_dense
    )
    for step in range(3):
        optimizer.zero_grad()
        if rank == 0 and step > 0:
            table_loss(model, torch.tensor([1, 2])).backward()
        optimizer.step()
    changed = (weights(model)[0] != before).any(1).tolist()
    assert changed == [row in (1, 2) for row in range(6)]
    assert same_everywhere(weights(model))


def test_ranks_agree_again_after_a_join(rank: int, size: int, restart: None) -> None:
    """Rank 0 has no batch in the first epoch: it missed what the others agreed on."""
    model = TableAndLayer()
    optimizer = distributed(model, OPTIMIZERS["SGD"])
    if rank != 0:
        model("-", rank).backward()
        optimizer.step()
    hvd.join()
    hvd.broadcast_parameters(model.state_dict(), size - 1)
    for use in ("s" if rank == 0 else "-", "-" if rank == 0 else "s"):
        optimizer.zero_grad()
        model(use, rank).backward()
        optimizer.step()
    assert same_everywhere(weights(model))
