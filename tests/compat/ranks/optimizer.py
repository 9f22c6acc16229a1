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

SGD = OPTIMIZERS["SGD momentum"]
ADAM = OPTIMIZERS["Adam"]


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


# --- how gradients travel


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


# --- parameters of all sorts


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


# --- sparse gradients


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
