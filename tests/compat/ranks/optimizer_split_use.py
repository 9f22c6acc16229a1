"""split_allreduce: whoever looks at parameters, odd models, errors, sets, elastic states."""

import copy
import io
from typing import Any

import optimizer_split
import pytest
import torch
from optimizer_split import ADAM, SGD, check_same, deep, mine, plain_loop
from training import loss, same_everywhere, weights

import horovod.torch as hvd
from horovod.torch.elastic import TorchState


def pair(**how: Any) -> Any:
    """A model and its optimizer after some steps, with updates on their way."""
    model = deep()
    optimizer = hvd.DistributedOptimizer(
        SGD(model.parameters()), model.named_parameters(), split_allreduce=True, **how
    )
    plain_loop(model, optimizer)
    assert optimizer._arriving
    return model, optimizer


def right() -> Any:
    """What that model must be."""
    result, optimizer, _ = optimizer_split.trained(False, plain_loop, SGD, deep, {})
    return result, optimizer


def is_right(tensors: Any) -> bool:
    return all(torch.allclose(a, b, rtol=1e-9) for a, b in zip(right()[0], tensors))


# --- whoever looks at parameters


def test_checkpoints(rank: int) -> None:
    model, optimizer = pair()
    if rank == 0:  # alone: nobody else is asked
        state = optimizer.state_dict()
        assert is_right(model.parameters()) and not optimizer._arriving
    else:
        assert is_right(list(model.state_dict().values())) and not optimizer._arriving
        state = optimizer.state_dict()
    other = right()[1].state_dict()
    for i in range(8):
        a, b = (s["state"][i]["momentum_buffer"] for s in (state, other))
        assert torch.allclose(a, b, rtol=1e-9)
    model, optimizer = pair()
    memory = io.BytesIO()
    torch.save(model, memory)
    memory.seek(0)
    assert is_right(torch.load(memory, weights_only=False).parameters())


def test_what_is_loaded_stays(rank: int) -> None:
    model, optimizer = pair()
    fresh = deep()
    model.load_state_dict(fresh.state_dict())
    optimizer.flush()
    assert all(torch.equal(a, b) for a, b in zip(weights(model), weights(fresh)))
    model, optimizer = pair()
    saved = copy.deepcopy(optimizer.state_dict())
    plain_loop(model, optimizer)
    loss(model, mine(1)[0]).backward()  # on its way, and forgotten
    optimizer.load_state_dict(saved)
    assert not optimizer._arriving and not optimizer._handles
    plain_loop(model, optimizer)
    optimizer.flush()
    assert same_everywhere(weights(model))


def test_copies_and_broadcasts(rank: int) -> None:
    model, optimizer = pair()
    with pytest.raises(RuntimeError, match=r"optimizer\.flush\(\)"):
        copy.deepcopy(model)
    hvd.broadcast_parameters(list(model.named_parameters()), 0)
    assert is_right(model.parameters())
    twin = copy.deepcopy(model)
    plain_loop(model, optimizer)
    twin(mine(1)[0][0])
    assert optimizer._arriving, "the copy has no hooks"
    hvd.broadcast_optimizer_state(optimizer, 0)
    assert not optimizer._arriving


def test_join_and_a_new_engine(rank: int) -> None:
    model, optimizer = pair()
    hvd.join()
    assert is_right(model.parameters())
    plain_loop(model, optimizer)
    assert optimizer._arriving, "it goes on after a join"
    hvd.shutdown()
    assert not optimizer._arriving
    hvd.init()
    plain_loop(model, optimizer)
    assert optimizer._arriving
    optimizer.flush()
    other, unsplit = deep(), None
    unsplit = hvd.DistributedOptimizer(SGD(other.parameters()), other.named_parameters())
    for _ in range(3):
        plain_loop(other, unsplit)
    assert all(torch.allclose(a, b, rtol=1e-9) for a, b in zip(weights(model), weights(other)))


def test_elastic_states(rank: int) -> None:
    model, optimizer = pair()
    state = TorchState(model, optimizer, step=1)
    state.commit()
    assert not optimizer._arriving and is_right(model.parameters())
    committed = weights(model)
    plain_loop(model, optimizer)
    state.restore()
    assert not optimizer._arriving
    assert all(torch.equal(a, b) for a, b in zip(weights(model), committed))
    hvd.barrier()
    hvd.shutdown()  # an engine does not survive a restore in the middle of a step
    hvd.init()
    state.sync()
    plain_loop(model, optimizer)
    optimizer.flush()
    assert same_everywhere(weights(model))


# --- odd models


def test_two_models_whose_parameters_have_the_same_names() -> None:
    """Updates of one are on their way while the other's leave."""
    one, first = pair()
    other, second = pair()
    assert first._arriving and second._arriving
    for _ in range(2):
        plain_loop(one, first)
        plain_loop(other, second)
    for mine_, theirs in zip(one.state_dict().values(), other.state_dict().values()):
        assert torch.equal(mine_, theirs)
    assert same_everywhere(weights(one))


class Odd(torch.nn.Module):
    """Parameters that are used in all ways but by their own module's forward."""

    def __init__(self, sometimes: bool = False) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.inside = torch.nn.Linear(5, 8)
        self.attention = torch.nn.MultiheadAttention(8, 2)  # its out_proj is never called
        self.list = torch.nn.ParameterList([torch.ones(8), torch.full((3,), 0.5)])
        self.tied = torch.nn.Linear(8, 8)
        self.tied_again = torch.nn.Linear(8, 8)
        self.tied_again.weight = self.tied.weight
        self.never = torch.nn.Linear(3, 3)
        self.some = torch.nn.Linear(8, 8)
        self.out = torch.nn.Linear(8, 2)
        self.sometimes = sometimes
        self.double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.inside(x)[:, None]
        h = self.attention(h, h, h, need_weights=False)[0][:, 0] * self.list[0]
        h = self.tied_again(torch.tanh(self.tied(h)))
        if not self.sometimes or hvd.rank() == 0:
            h = self.some(h)
        return self.out(h)  # type: ignore[no-any-return]


def test_odd_models() -> None:
    optimizer, later = check_same(plain_loop, ADAM, Odd)
    split = set(optimizer._bucket_of)
    names = {optimizer._parameter_names[p] for p in split}
    assert "attention.out_proj.weight" in names and "list.0" in names and later
    assert not any(name.startswith("never") for name in names)


def test_a_module_that_some_ranks_do_not_use() -> None:
    optimizer, _ = check_same(plain_loop, ADAM, lambda: Odd(sometimes=True))
    assert any(optimizer._parameter_names[p].startswith("some") for p in optimizer._bucket_of)


def test_a_module_that_some_ranks_stop_using(rank: int) -> None:
    def stopping(model: Any, optimizer: Any) -> None:
        plain_loop(model, optimizer)
        model.sometimes = True
        plain_loop(model, optimizer)

    optimizer, _ = check_same(stopping, ADAM, Odd)
    assert any(optimizer._parameter_names[p].startswith("some") for p in optimizer._bucket_of)


def test_parameters_without_modules(rank: int) -> None:
    p = torch.nn.Parameter(torch.ones(3))
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD([p], lr=1.0), split_allreduce=True)
    (p * rank).sum().backward()
    with pytest.warns(UserWarning, match="nothing is split"):
        optimizer.step()
    optimizer.zero_grad()
    (p * 2.0).sum().backward()
    optimizer.step()
    assert torch.allclose(p, torch.full((3,), 1 - (hvd.size() - 1) / 2 - 2.0))


def test_used_without_a_word(restart: None) -> None:
    """By its own module in the first step, by a bare function later: said, not wrong in silence."""
    model, optimizer = pair()
    weight = model[0].weight
    with pytest.raises(RuntimeError, match=r"'0\.weight' was used while.*optimizer\.flush\(\)"):
        (weight * 2.0).sum().backward()
    optimizer.flush()
    assert is_right(model.parameters())


# --- sets, and what is refused


def test_process_sets(rank: int, size: int) -> None:
    members = list(range(size - 1))
    hvd.barrier()
    hvd.shutdown()
    some = hvd.ProcessSet(members)
    hvd.init(process_sets=[some])
    model = deep()
    optimizer = hvd.DistributedOptimizer(
        SGD(model.parameters()), model.named_parameters(), process_set=some, split_allreduce=True
    )
    plain_loop(model, optimizer)
    assert bool(optimizer._arriving) == (rank in members)
    optimizer.flush()
    if rank in members:
        flat = torch.cat([p.flatten() for p in weights(model)])
        everybody = hvd.allgather(flat[None], name="of the set", process_set=some)
        assert all(torch.equal(everybody[0], one) for one in everybody)
    hvd.barrier()
    hvd.shutdown()
    hvd.init()


class Mine(torch.optim.SGD):
    """Not torch's own."""

    def step(self, closure: Any = None) -> Any:
        self.param_groups[0]["lr"] *= 0.5
        return super().step(closure)


def test_refused(monkeypatch: pytest.MonkeyPatch, restart: None) -> None:
    def wrapped(make: Any, **how: Any) -> Any:
        model = deep()
        optimizer = make(model.parameters())
        return model, hvd.DistributedOptimizer(optimizer, model.named_parameters(), **how)

    def refused(match: str, make: Any = SGD, **how: Any) -> None:
        how.setdefault("split_allreduce", True)
        with pytest.raises(ValueError, match=match):
            wrapped(make, **how)

    refused("LBFGS", torch.optim.LBFGS)
    refused("LBFGS", torch.optim.LBFGS, split_allreduce="independent")
    refused("Mine.*independent", lambda p: Mine(p, lr=0.1))
    refused("differentiable", lambda p: torch.optim.SGD(p, lr=0.1, differentiable=True))
    refused("Average and Sum", op=hvd.Max)
    refused("groups", groups=2)
    refused("predivide", gradient_predivide_factor=2.0)
    refused("split_allreduce must be", split_allreduce="yes")
    model, optimizer = wrapped(lambda p: Mine(p, lr=0.1), split_allreduce="independent")
    with pytest.raises(RuntimeError, match="'lr' of a parameter group"):
        plain_loop(model, optimizer)
    optimizer._abandon_pending()
    monkeypatch.setenv("HOROVODX_SPLIT_ALLREDUCE", "1")
    assert type(wrapped(SGD)[1]).__mro__[1].__name__ == "SplitReducer"
    with pytest.warns(UserWarning, match="HOROVODX_SPLIT_ALLREDUCE.*LBFGS"):
        wrapped(torch.optim.LBFGS)
    monkeypatch.setenv("HOROVODX_SPLIT_ALLREDUCE", "often")
    refused("HOROVODX_SPLIT_ALLREDUCE must be", split_allreduce=None)
    monkeypatch.setenv("HOROVODX_SPLIT_ALLREDUCE", "0")
    monkeypatch.setenv("HOROVODX_SPLIT_BUCKET", "-1")
    with pytest.raises(ValueError, match="HOROVODX_SPLIT_BUCKET"):
        plain_loop(*wrapped(SGD, split_allreduce=True))
