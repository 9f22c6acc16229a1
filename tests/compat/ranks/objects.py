"""Objects, parameters and optimizer state: all ranks start from the same point."""

import collections
import copy
import dataclasses
from typing import Any, Callable

import pytest
import torch

import horovod.torch as hvd


@dataclasses.dataclass
class Point:
    x: float
    name: str
    more: dict[str, Any]


ODD: list[Any] = [
    None,
    0,
    -(2**80),
    "",
    "grüße \U0001f600",
    b"\x00\xff",
    (),
    [],
    {},
    [1, [2, [3, (4, {5: {6}})]]],
    Point(1.5, "p", {"a": [1, 2]}),
    collections.OrderedDict(b=1, a=2),
    complex(1, 2),
    range(3),
    Point,
    float("inf"),
]


# --- objects


@pytest.mark.parametrize("obj", ODD, ids=repr)
def test_broadcast_object(obj: Any, rank: int, size: int) -> None:
    for root in range(size):
        mine = obj if rank == root else f"something of rank {rank}"
        result = hvd.broadcast_object(mine, root, name="odd")
        assert result == obj and type(result) is type(obj)
        if rank == root:
            assert result is mine, "the root returns its own object"


def test_broadcast_object_by_type_name(rank: int, size: int) -> None:
    """Without a name ranks with objects of one type meet."""
    assert hvd.broadcast_object({"rank": rank}) == {"rank": 0}
    assert hvd.broadcast_object([rank], root_rank=size - 1) == [size - 1]


def test_functions_and_closures_travel(rank: int) -> None:
    factor = rank + 3
    times = hvd.broadcast_object(lambda x: x * factor, 0, name="closure")
    assert times(2) == 6


def test_tensors_and_modules_travel(rank: int) -> None:
    torch.manual_seed(rank)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    given = hvd.broadcast_object(model, 0, name="model")
    weights = hvd.allgather(given[0].weight.detach()[None])
    assert all(torch.equal(weights[0], other) for other in weights)


def test_big_objects(rank: int, size: int) -> None:
    big = [rank, bytes(3_000_001), list(range(10_000))]
    assert hvd.broadcast_object(big, size - 1, name="big")[0] == size - 1
    everybody = hvd.allgather_object(big[: 2 if rank == 0 else 1], name="big")
    assert [len(one) for one in everybody] == [2] + [1] * (size - 1)
    assert len(everybody[0][1]) == 3_000_001


def test_objects_that_cannot_be_pickled(rank: int, size: int) -> None:
    class Refuses:
        def __reduce__(self) -> Any:
            raise TypeError("I stay here")

    with pytest.raises(TypeError, match="I stay here"):
        hvd.allgather_object(Refuses(), name="refuses")
    assert hvd.allgather_object(rank, name="refuses") == list(range(size))


@pytest.mark.parametrize("obj", ODD, ids=repr)
def test_allgather_object(obj: Any, rank: int, size: int) -> None:
    everybody = hvd.allgather_object(obj if rank % 2 == 0 else (rank, obj), name="odd")
    assert isinstance(everybody, list)
    assert everybody == [obj if r % 2 == 0 else (r, obj) for r in range(size)]


def test_allgather_object_without_name(rank: int, size: int) -> None:
    assert hvd.allgather_object({"rank": rank}) == [{"rank": r} for r in range(size)]


# --- parameters


def model_of(rank: int) -> torch.nn.Module:
    torch.manual_seed(100 + rank)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 3),
        torch.nn.BatchNorm1d(3),
        torch.nn.Embedding(5, 2),
        torch.nn.Linear(3, 1, dtype=torch.float64),
        torch.nn.Linear(3, 1, dtype=torch.bfloat16),
    )


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return list(a) == list(b) and all(torch.equal(a[key], b[key]) for key in a)


def test_broadcast_parameters_of_a_dict(rank: int, size: int) -> None:
    for root in range(size):
        model = model_of(rank)
        model[1].num_batches_tracked.fill_(rank)
        model[1].running_mean.fill_(float(rank))
        right = model_of(root)
        right[1].num_batches_tracked.fill_(root)
        right[1].running_mean.fill_(float(root))
        assert hvd.broadcast_parameters(model.state_dict(), root_rank=root) is None
        assert equal(model.state_dict(), right.state_dict())


def test_broadcast_parameters_of_lists(rank: int, size: int) -> None:
    for listed in (lambda m: list(m.named_parameters()), lambda m: list(m.parameters())):
        model = model_of(rank)
        hvd.broadcast_parameters(listed(model), root_rank=size - 1)
        right = dict(model_of(size - 1).named_parameters())
        assert equal(dict(model.named_parameters()), right)


def test_dicts_in_another_order(rank: int, size: int) -> None:
    keys = ["a", "b", "c"] if rank == 0 else ["c", "a", "b"]
    params = {key: torch.full((2,), float(ord(key) + 100 * rank)) for key in keys}
    hvd.broadcast_parameters(params, root_rank=0)
    assert all(params[key].tolist() == [float(ord(key))] * 2 for key in params)


def test_what_broadcast_parameters_does_not_take() -> None:
    model = model_of(0)
    for wrong in (model.named_parameters(), model.parameters(), model, "params", None):
        with pytest.raises(ValueError, match="invalid params of type"):
            hvd.broadcast_parameters(wrong, root_rank=0)
    hvd.broadcast_parameters({}, root_rank=0)
    hvd.broadcast_parameters([], root_rank=0)
    with pytest.raises(ValueError, match="invalid root rank"):
        hvd.broadcast_parameters(model.state_dict(), root_rank=hvd.size())


# --- optimizer state

Make = Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]
OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "SGD momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "Adam amsgrad": lambda p: torch.optim.Adam(p, lr=0.1, amsgrad=True),
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


def parameters(rank: int) -> list[torch.nn.Parameter]:
    torch.manual_seed(rank)
    return [torch.nn.Parameter(torch.randn(shape)) for shape in ((3, 2), (4,), (2, 2, 2))]


def train(optimizer: torch.optim.Optimizer, steps: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = torch.randn(p.shape, generator=generator)
        # Locally: the class below a DistributedOptimizer does not communicate.
        cls: Any = type(optimizer)
        base = cls if not hasattr(optimizer, "_parameter_names") else cls.__mro__[2]
        base.step(optimizer)


def flat(optimizer: torch.optim.Optimizer) -> Any:
    """All of a state_dict, comparable."""
    state = copy.deepcopy(optimizer.state_dict())

    def plain(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return ("tensor", str(value.dtype), tuple(value.shape), value.flatten().tolist())
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        return (type(value).__name__, value)

    return plain(state)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("distributed", [False, True], ids=["plain", "distributed"])
def test_optimizer_state(name: str, distributed: bool, rank: int, size: int) -> None:
    def made(r: int) -> torch.optim.Optimizer:
        optimizer = OPTIMIZERS[name](parameters(r))
        if distributed:
            optimizer = hvd.DistributedOptimizer(optimizer)
        return optimizer

    root = size - 1
    # Everybody has trained differently; rank 0 has not trained at all and has no state.
    optimizer = made(rank)
    train(optimizer, steps=rank + 1 if rank or size == 1 else 0, seed=rank)
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * (rank + 1)
    before = flat(optimizer)
    hvd.broadcast_optimizer_state(optimizer, root_rank=root)
    if rank == root:
        assert flat(optimizer) == before, "the root's state is its own"
    texts = hvd.allgather_object(flat(optimizer), name="state")
    assert all(text == texts[root] for text in texts)
    # From the same weights everybody makes the same step now.
    hvd.broadcast_parameters([p for g in optimizer.param_groups for p in g["params"]], root)
    train(optimizer, steps=2, seed=7)
    weights = torch.cat([p.detach().flatten() for p in optimizer.param_groups[0]["params"]])
    everybody = hvd.allgather(weights[None])
    assert all(torch.equal(everybody[0], other) for other in everybody)


def test_state_that_the_root_does_not_have(rank: int, size: int) -> None:
    optimizer = OPTIMIZERS["Adam"](parameters(rank))
    train(optimizer, steps=rank, seed=rank)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    texts = hvd.allgather_object(flat(optimizer), name="state")
    assert all(text == texts[0] for text in texts)


def test_options_keep_their_types(rank: int, size: int) -> None:
    a, b = parameters(rank)[:2]
    optimizer = torch.optim.Adam(
        [{"params": [a], "lr": 0.5 + rank}, {"params": [b], "betas": (0.5, 0.25 * (rank + 1) / 8)}],
        amsgrad=rank == 0,
    )
    optimizer.param_groups[0]["mine"] = {"rank": rank}
    optimizer.param_groups[1]["none"] = None if rank == 0 else 3
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    first, second = optimizer.param_groups
    assert first["lr"] == 0.5 and type(first["lr"]) is float
    assert second["betas"] == (0.5, 0.03125) and type(second["betas"]) is tuple
    assert first["amsgrad"] is True and first["mine"] == {"rank": 0} and second["none"] is None
    assert first["params"][0] is a and second["params"][0] is b


def test_a_parameter_without_state(rank: int, size: int) -> None:
    """A frozen one: it has none on any rank, before and after."""
    params = parameters(rank)
    params[1].requires_grad_(False)
    optimizer = OPTIMIZERS["Adam"](params)
    params[0].grad, params[2].grad = torch.ones(3, 2), torch.ones(2, 2, 2)
    optimizer.step()
    hvd.broadcast_optimizer_state(optimizer, root_rank=0, model=None)
    assert params[1] not in optimizer.state or not optimizer.state[params[1]]


def test_sparse_adam(rank: int, size: int) -> None:
    torch.manual_seed(rank)
    table = torch.nn.Embedding(5, 2, sparse=True)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1 * (rank + 1))
    for _ in range(rank + 1):
        optimizer.zero_grad()
        table(torch.tensor([rank % 5, 1])).sum().backward()
        optimizer.step()
    hvd.broadcast_optimizer_state(optimizer, root_rank=0, model=table)
    texts = hvd.allgather_object(flat(optimizer), name="state")
    assert all(text == texts[0] for text in texts)


def test_lbfgs_is_refused() -> None:
    optimizer = torch.optim.LBFGS(parameters(0))
    with pytest.raises(ValueError, match="cannot broadcast torch.optim.LBFGS state"):
        hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    with pytest.raises(ValueError, match="cannot broadcast torch.optim.LBFGS state"):
        hvd.broadcast_optimizer_state(hvd.DistributedOptimizer(optimizer), root_rank=0)


def test_every_optimizer_of_torch_is_here() -> None:
    theirs = {
        name
        for name, cls in vars(torch.optim).items()
        if isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer)
    } - {"Optimizer", "LBFGS", "SparseAdam", "Muon"}
    assert theirs <= {name.split()[0] for name in OPTIMIZERS}
