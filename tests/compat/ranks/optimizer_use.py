"""DistributedOptimizer in training loops: clipping, scaling, schedules, closures, checkpoints."""

import copy
import io
import pickle
import warnings
from typing import Any, Callable

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
    train,
    weights,
)

import horovod.torch as hvd

SGD = OPTIMIZERS["SGD momentum"]
ADAM = OPTIMIZERS["Adam"]


def mine(steps: int = 4) -> Any:
    return [part(batch) for batch in batches(steps)]


# --- what it is


def test_it_is_an_optimizer_of_the_same_class(size: int) -> None:
    model = network()
    plain = torch.optim.Adam(model.parameters(), lr=0.25)
    optimizer = hvd.DistributedOptimizer(plain, model.named_parameters())
    assert isinstance(optimizer, torch.optim.Adam)
    assert type(optimizer).__name__ == "Adam"
    assert optimizer.param_groups[0]["lr"] == 0.25
    optimizer.param_groups[0]["lr"] = 0.5
    assert plain.param_groups[0]["lr"] == 0.5, "options are shared"


def test_attributes_that_others_look_at(size: int) -> None:
    model = network()
    optimizer = distributed(model, SGD, backward_passes_per_step=3)
    names = optimizer._parameter_names
    assert sorted(names.values()) == sorted(name for name, _ in model.named_parameters())
    assert all(names[p] == name for name, p in model.named_parameters())
    assert optimizer.op == hvd.Average and optimizer.process_set is hvd.global_process_set
    assert optimizer.backward_passes_per_step == 3
    assert optimizer.gradient_predivide_factor == 1.0 and optimizer.sparse_as_dense is False
    assert optimizer._compression is hvd.Compression.none
    assert optimizer._synchronized is False and optimizer._should_synchronize is True
    assert not optimizer._handles
    assert len(optimizer._requires_update) == (4 if size > 1 else 0)
    assert set(optimizer._allreduce_delay.values()) == ({3} if size > 1 else set())
    assert list(optimizer.find_duplicates([1, 2, 1, 3, 3, 1])) in ([1, 3], [3, 1])
    unnamed = hvd.DistributedOptimizer(SGD(model.parameters()))
    assert set(unnamed._parameter_names.values()) == {f"allreduce.noname.0.{i}" for i in range(4)}


def test_one_rank_is_the_plain_optimizer(size: int) -> None:
    if size > 1:
        pytest.skip("one rank")
    model, other = network(), network()
    result = train(model, distributed(model, ADAM), batches())
    right = train(other, ADAM(other.parameters()), batches())
    assert all(torch.equal(a, b) for a, b in zip(result, right))


# --- errors


def test_errors(size: int) -> None:
    model = network()
    a, b, c, d = model.parameters()
    sgd = SGD(model.parameters())
    named = list(model.named_parameters())

    def refused(match: str, **how: Any) -> None:
        with pytest.raises(ValueError, match=match):
            hvd.DistributedOptimizer(sgd, **how)

    refused("predivide", gradient_predivide_factor=2.0, op=hvd.Sum)
    refused("backward_passes_per_step", backward_passes_per_step=0)
    refused("backward_passes_per_step", backward_passes_per_step=-1)
    refused("tuple", named_parameters=list(model.parameters()))
    refused(
        "Parameter names in named_parameters must be unique",
        named_parameters=[("same", p) for _, p in named],
    )
    refused("one or more model parameters were not named", named_parameters=named[:3])
    for groups in (0, -1, 1.5, "two", {a: b}):
        refused("groups", groups=groups)
    refused("groups", groups=[[a, "b"]])
    refused("once|appear|duplicate|multiple|more than", groups=[[a, b], [b, c]])
    # Names that come too much are no harm.
    hvd.DistributedOptimizer(sgd, named_parameters=[*named, ("more", torch.nn.Parameter(d.data))])


# --- steps


def test_clipping() -> None:
    """The reduced gradient is clipped, as one process clips that of the whole batch."""
    model, other = network(), network()
    optimizer, plain = distributed(model, SGD), SGD(other.parameters())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for whole, own in zip(batches(), mine()):
            optimizer.zero_grad()
            loss(model, own).backward()
            optimizer.synchronize()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            with optimizer.skip_synchronize():
                optimizer.step()
            plain.zero_grad()
            loss(other, whole).backward()
            right = torch.nn.utils.clip_grad_norm_(other.parameters(), 0.1)
            plain.step()
            assert torch.allclose(norm, right) and norm > 0.1
    assert close(weights(model), weights(other)) and same_everywhere(weights(model))


def test_step_after_synchronize_warns(size: int) -> None:
    if size == 1:
        pytest.skip("the plain optimizer")
    model = network()
    optimizer = distributed(model, SGD)
    loss(model, mine()[0]).backward()
    optimizer.synchronize()
    with pytest.warns(UserWarning, match=r"step\(\) called without optimizer.skip_synchronize\(\)"):
        optimizer.step()
    # The reduced gradients were averaged again, which changes nothing.
    assert close(weights(model), alone(SGD, steps=1))


def test_zero_grad_while_gradients_are_on_their_way(size: int) -> None:
    if size == 1:
        pytest.skip("the plain optimizer")
    model = network()
    optimizer = distributed(model, SGD)
    loss(model, mine()[0]).backward()
    with pytest.raises(
        AssertionError, match=r"optimizer.zero_grad\(\) was called after loss.backward\(\)"
    ):
        optimizer.zero_grad()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    assert all(p.grad.eq(0).all() for p in model.parameters())
    optimizer.zero_grad()
    assert all(p.grad is None for p in model.parameters())
    optimizer.zero_grad(True)


def test_gradients_are_the_same_after_synchronize(size: int) -> None:
    model, other = network(), network()
    optimizer = distributed(model, SGD)
    loss(model, mine()[0]).backward()
    optimizer.synchronize()
    loss(other, batches()[0]).backward()
    gradients = [p.grad for p in model.parameters()]
    assert close(gradients, [p.grad for p in other.parameters()]) and same_everywhere(gradients)
    with optimizer.skip_synchronize():
        optimizer.step()


def test_closures() -> None:
    model, other = network(), network()
    optimizer, plain = distributed(model, SGD), SGD(other.parameters())

    def closure_for(m: torch.nn.Module, o: Any, batch: Any) -> Callable[[], torch.Tensor]:
        def closure() -> torch.Tensor:
            o.zero_grad()
            value = loss(m, batch)
            value.backward()
            return value

        return closure

    for whole, own in zip(batches(), mine()):
        before = loss(model, own).item()
        assert optimizer.step(closure_for(model, optimizer, own)).item() == pytest.approx(before)
        plain.step(closure_for(other, plain, whole))
    assert close(weights(model), weights(other)) and same_everywhere(weights(model))


def test_step_without_backward(size: int) -> None:
    """Ranks without a gradient bring zeros, so nobody waits for ever."""
    model = network()
    optimizer = distributed(model, lambda p: torch.optim.SGD(p, lr=0.1))
    before = weights(model)
    optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(weights(model), before))


@pytest.mark.parametrize("when", ["before", "after"])
def test_learning_rate_schedules(when: str) -> None:
    def make(optimizer: Any) -> Any:
        return torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)

    model, other = network(), network()
    plain = SGD(other.parameters())
    schedule = make(plain)
    right = train(other, plain, batches(), each=schedule.step)
    sgd = SGD(model.parameters())
    if when == "before":
        mine_schedule = make(sgd)
        optimizer = hvd.DistributedOptimizer(sgd, model.named_parameters())
    else:
        optimizer = hvd.DistributedOptimizer(sgd, model.named_parameters())
        mine_schedule = make(optimizer)
    with warnings.catch_warnings():
        if when == "after":
            warnings.simplefilter("error")
        else:  # it watches an optimizer whose step() nobody calls
            warnings.filterwarnings("ignore", message=".*lr_scheduler.step.*")
        result = train(model, optimizer, mine(), each=mine_schedule.step)
    assert close(result, right)
    assert optimizer.param_groups[0]["lr"] == plain.param_groups[0]["lr"] == 0.1 / 16


def test_one_cycle_and_plateau() -> None:
    model, other = network(), network()
    optimizer, plain = distributed(model, SGD), SGD(other.parameters())

    def schedules(o: Any) -> list[Any]:
        lr_scheduler = torch.optim.lr_scheduler
        return [
            lr_scheduler.OneCycleLR(o, max_lr=0.3, total_steps=5),
            lr_scheduler.ReduceLROnPlateau(o, patience=0),
        ]

    ours, theirs = schedules(optimizer), schedules(plain)
    for whole, own in zip(batches(), mine()):
        for m, o, batch, (cycle, plateau) in (
            (model, optimizer, own, ours),
            (other, plain, whole, theirs),
        ):
            o.zero_grad()
            loss(m, batch).backward()
            o.step()
            cycle.step()
            plateau.step(1.0)
    assert close(weights(model), weights(other))


@pytest.mark.parametrize("overflow", [False, True], ids=["fits", "one rank overflows"])
def test_grad_scaler(overflow: bool, rank: int, size: int) -> None:
    """Scale, synchronize, unscale, step: an overflow of one rank skips the step of all."""
    model, other = network(), network()
    optimizer, plain = distributed(model, SGD), SGD(other.parameters())
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    for step, (whole, own) in enumerate(zip(batches(), mine())):
        bad = overflow and step == 1
        optimizer.zero_grad()
        value = loss(model, own)
        if bad and rank == 0:
            value = value * float("inf")
        scaler.scale(value).backward()
        optimizer.synchronize()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        with optimizer.skip_synchronize():
            scaler.step(optimizer)
        scaler.update()
        if not bad:
            plain.zero_grad()
            loss(other, whole).backward()
            torch.nn.utils.clip_grad_norm_(other.parameters(), 5.0)
            plain.step()
    assert close(weights(model), weights(other)) and same_everywhere(weights(model))
    assert scaler.get_scale() == (1024.0 if overflow else 4096.0)


def test_autocast() -> None:
    model = network().float()
    optimizer = distributed(model, SGD)
    for own in mine():
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = model(own[0].float())
        torch.nn.functional.mse_loss(output.float(), own[1].float()).backward()
        optimizer.step()
    assert same_everywhere(weights(model))
    assert close([w.double() for w in weights(model)], alone(SGD), 0.1)


def test_step_hooks_run_once() -> None:
    calls: list[str] = []
    model = network()
    optimizer = distributed(model, SGD)
    optimizer.register_step_pre_hook(lambda *_: calls.append("before"))
    optimizer.register_step_post_hook(lambda *_: calls.append("after"))
    train(model, optimizer, mine(2))
    assert calls == ["before", "after"] * 2


def test_a_hook_on_a_parameter_still_works(size: int) -> None:
    """What users hang on gradients runs before they travel."""
    model, other = network(), network()
    for m in (model, other):
        m[0].weight.register_hook(lambda gradient: gradient * 3)
    right = train(other, SGD(other.parameters()), batches())
    assert close(train(model, distributed(model, SGD), mine()), right)


def test_ranks_that_disagree_are_told_and_go_on(rank: int, size: int) -> None:
    if size == 1:
        pytest.skip("one rank agrees with itself")
    layer = torch.nn.Linear(2 + (rank == 0), 1, bias=False)
    wrong = hvd.DistributedOptimizer(
        torch.optim.SGD(layer.parameters(), lr=1.0), [("weight", layer.weight)]
    )
    before = layer.weight.detach().clone()
    layer.weight.sum().backward()
    with pytest.raises(hvd.HorovodInternalError, match="Mismatched ALLREDUCE tensor shapes"):
        wrong.step()
    assert torch.equal(layer.weight, before), "a failed step moves nothing"
    wrong.zero_grad()
    layer.weight.sum().backward()
    with pytest.raises(hvd.HorovodInternalError, match="Mismatched ALLREDUCE tensor shapes"):
        wrong.step()
    model = network()
    assert close(train(model, distributed(model, SGD), mine()), alone(SGD))


# --- checkpoints


@pytest.mark.parametrize("make", [SGD, ADAM], ids=["SGD", "Adam"])
@pytest.mark.parametrize("way", ["deepcopy", "pickle", "save", "plain"])
def test_checkpoints(make: Any, way: str) -> None:
    """Half of the training, a checkpoint, other objects, the other half."""
    model = network()
    optimizer = distributed(model, make)
    train(model, optimizer, mine()[:2])
    state: Any = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    if way == "deepcopy":
        state = copy.deepcopy(state)
    elif way == "pickle":
        state = pickle.loads(pickle.dumps(state))
    elif way == "save":
        memory = io.BytesIO()
        torch.save(state, memory)
        memory.seek(0)
        state = torch.load(memory, weights_only=True)
    again = network()
    for p in again.parameters():
        torch.nn.init.zeros_(p)
    again.load_state_dict(state["model"])
    resumed = distributed(again, make)
    resumed.load_state_dict(state["optimizer"])
    result = train(again, resumed, mine()[2:])
    assert close(result, alone(make)) and same_everywhere(result)


def test_a_checkpoint_of_a_plain_optimizer_fits() -> None:
    other = network()
    plain = ADAM(other.parameters())
    train(other, plain, batches()[:2])
    model = network()
    model.load_state_dict(other.state_dict())
    optimizer = distributed(model, ADAM)
    optimizer.load_state_dict(plain.state_dict())
    assert close(train(model, optimizer, mine()[2:]), alone(ADAM))
    back = ADAM(network().parameters())
    back.load_state_dict(optimizer.state_dict())


def test_load_state_dict_forgets_what_is_on_its_way() -> None:
    model = network()
    optimizer = distributed(model, SGD)
    state = copy.deepcopy(optimizer.state_dict())
    loss(model, mine()[0]).backward()
    optimizer.load_state_dict(state)
    assert not optimizer._handles
    optimizer.zero_grad()
    assert close(train(model, optimizer, mine()), alone(SGD))
