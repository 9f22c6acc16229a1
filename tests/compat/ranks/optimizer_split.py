"""DistributedOptimizer(split_allreduce=True): the numbers of one that does not split."""

import warnings
from typing import Any, Callable

import pytest
import torch
from training import OPTIMIZERS, batches, close, loss, part, same_everywhere, weights

import horovod.torch as hvd
from horovodx import _horovodx as native

Loop = Callable[[torch.nn.Module, Any], None]
STEPS = 6
SGD = OPTIMIZERS["SGD momentum"]
ADAM = OPTIMIZERS["Adam"]


def deep() -> torch.nn.Module:
    """Several buckets (the job makes them small), the same on all ranks."""
    torch.manual_seed(3)
    widths = [5, 7, 6, 9, 2]
    layers: list[torch.nn.Module] = []
    for inside, outside in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inside, outside), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers).double()


def mine(steps: int = STEPS) -> Any:
    return [part(batch) for batch in batches(steps)]


def plain_loop(model: torch.nn.Module, optimizer: Any) -> None:
    for batch in mine():
        optimizer.zero_grad()
        loss(model, batch).backward()
        optimizer.step()


def trained(split: bool, loop: Loop, make: Any, model: Callable[[], Any], how: Any) -> Any:
    net = model()
    optimizer = hvd.DistributedOptimizer(
        make(net.parameters()), net.named_parameters(), split_allreduce=split, **how
    )
    loop(net, optimizer)
    later = getattr(optimizer, "_arriving", {})
    count = len(later)
    optimizer.flush()
    assert not later, "nothing is left"
    return weights(net), optimizer, count


def check_same(
    loop: Loop, make: Any = SGD, model: Any = deep, tolerance: float = 1e-9, **how: Any
) -> Any:
    """Splits and does not split: equal bits if two add up, else equal up to the order of sums."""
    right, _, _ = trained(False, loop, make, model, how)
    result, optimizer, later = trained(True, loop, make, model, how)
    if hvd.size() == 2:
        assert all(torch.equal(a, b) for a, b in zip(right, result))
    assert close(right, result, tolerance)
    assert same_everywhere(result)
    return optimizer, later


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name: str) -> None:
    optimizer, later = check_same(plain_loop, OPTIMIZERS[name])
    assert len(optimizer._buckets) > 2
    assert later == len(optimizer._buckets), "step() waits for none of them"


def test_types_and_options() -> None:
    def mixed() -> torch.nn.Module:
        model = deep()
        model[2].float()
        model[3] = torch.nn.Sequential(torch.nn.Tanh(), Cast(torch.float64))
        model[1] = torch.nn.Sequential(torch.nn.Tanh(), Cast(torch.float32))
        return model

    optimizer, _ = check_same(plain_loop, model=mixed, tolerance=1e-5)
    assert {bucket._kind for bucket in optimizer._buckets} == {torch.float32, torch.float64}
    half = {"compression": hvd.Compression.fp16, "op": hvd.Sum}
    optimizer, _ = check_same(plain_loop, tolerance=0.02, **half)
    assert {bucket._kind for bucket in optimizer._buckets} == {torch.float16}


class Cast(torch.nn.Module):
    def __init__(self, kind: torch.dtype) -> None:
        super().__init__()
        self._kind = kind

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self._kind)


# --- training loops


def test_gradients_are_cleared_in_any_way() -> None:
    def at(place: str, clear: Callable[[Any, Any], None]) -> Loop:
        def loop(model: torch.nn.Module, optimizer: Any) -> None:
            for batch in mine():
                if place == "before":
                    clear(model, optimizer)
                error = loss(model, batch)
                if place == "after forward":
                    clear(model, optimizer)
                error.backward()
                optimizer.step()
                if place == "after step":
                    clear(model, optimizer)

        return loop

    for place in ("before", "after forward", "after step", "never"):
        check_same(at(place, lambda _, optimizer: optimizer.zero_grad()))
    check_same(at("before", lambda _, optimizer: optimizer.zero_grad(set_to_none=False)))
    check_same(at("after step", lambda model, _: model.zero_grad(set_to_none=False)))
    check_same(at("before", lambda model, _: model.zero_grad()))


def test_the_learning_rate_is_that_of_step() -> None:
    def scheduled(model: torch.nn.Module, optimizer: Any) -> None:
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for batch in mine():
                optimizer.zero_grad()
                loss(model, batch).backward()
                optimizer.step()
                schedule.step()
                optimizer.param_groups[0]["weight_decay"] *= 2

    check_same(scheduled)
    tensor_rate = lambda p: torch.optim.Adam(p, lr=torch.tensor(0.1), foreach=False)  # noqa: E731
    check_same(scheduled, tensor_rate)


def test_clipping_needs_all_gradients() -> None:
    def clipping(model: torch.nn.Module, optimizer: Any) -> None:
        for i, batch in enumerate(mine()):
            optimizer.zero_grad()
            loss(model, batch).backward()
            if i % 3 == 0:  # the others leave updates for later
                optimizer.step()
                continue
            optimizer.synchronize()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            with optimizer.skip_synchronize():
                optimizer.step()
            assert not getattr(optimizer, "_arriving", {})

    check_same(clipping, ADAM)


def test_closures_and_hooks_see_everything() -> None:
    def with_closure(model: torch.nn.Module, optimizer: Any) -> None:
        for i, batch in enumerate(mine()):

            def closure(batch: Any = batch) -> torch.Tensor:
                optimizer.zero_grad()
                error = loss(model, batch)
                error.backward()
                return error

            if i % 2:
                assert torch.is_tensor(optimizer.step(closure))
            else:
                closure()
                optimizer.step()

    check_same(with_closure)
    seen: list[Any] = []

    def watched(model: torch.nn.Module, optimizer: Any) -> None:
        hook = lambda one, *_: seen.append([p.grad.clone() for p in model.parameters()])  # noqa: E731
        optimizer.register_step_pre_hook(hook)
        plain_loop(model, optimizer)

    check_same(watched)
    assert len(seen) == 2 * STEPS
    assert all(close(a, b) for a, b in zip(seen[:STEPS], seen[STEPS:]))


def test_several_backward_passes() -> None:
    def passes(model: torch.nn.Module, optimizer: Any) -> None:
        data = mine(12)
        for first, second in zip(data[::2], data[1::2]):
            optimizer.zero_grad()
            loss(model, first).backward()
            loss(model, second).backward()
            optimizer.step()

    check_same(passes, backward_passes_per_step=2)


def test_forward_in_other_modes() -> None:
    """The update does not happen in the mode of the forward that needs it."""

    def evaluating(model: torch.nn.Module, optimizer: Any) -> None:
        for i, batch in enumerate(mine()):
            optimizer.zero_grad()
            loss(model, batch).backward()
            if i == 3:
                optimizer.state.clear()  # so that the next update, in inference mode, makes it anew
            optimizer.step()
            model.eval()
            if i % 3 == 0:
                with torch.inference_mode():
                    model(batch[0])
            elif i % 3 == 1:
                with torch.no_grad():
                    model(batch[0])
            else:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    model(batch[0])
            model.train()

    check_same(evaluating, ADAM)


def test_parameters_come_and_go() -> None:
    def changing(model: Any, optimizer: Any) -> None:
        for i, batch in enumerate(mine()):
            if i == 2:
                model[2].weight.requires_grad_(False)
            if i == 4:
                model[2].weight.requires_grad_(True)
                model.append(torch.nn.Linear(2, 2).double())
                torch.nn.init.ones_(model[-1].weight)
                torch.nn.init.zeros_(model[-1].bias)
                optimizer.add_param_group({"params": list(model[-1].parameters()), "lr": 0.01})
            optimizer.zero_grad()
            loss(model, batch).backward()
            if i == 3:
                model[4].bias.grad = None
            optimizer.step()

    check_same(changing)


def test_a_steady_step_asks_nobody(size: int) -> None:
    """No control message, in a plan that has both halves."""
    model = deep()
    optimizer = hvd.DistributedOptimizer(
        SGD(model.parameters()), model.named_parameters(), split_allreduce=True
    )
    names = ("control_messages_sent", "control_messages_received")
    quiet = longest = 0
    for _ in range(60):  # a plan comes late if earlier ones were hardly used
        before = [native.counter(name) for name in names]
        optimizer.zero_grad()
        loss(model, mine(1)[0]).backward()
        optimizer.step()
        optimizer.flush()
        here = before == [native.counter(name) for name in names]
        quiet = quiet + 1 if here else 0
        longest = max(longest, quiet)
    assert longest >= 10
