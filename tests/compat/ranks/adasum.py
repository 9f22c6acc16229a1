"""Adasum: the operation on tensors, and the optimizer that reduces changes with it."""

from typing import Any

import pytest
import torch
from expected import adasum_of
from training import OPTIMIZERS, batches, close, loss, network, part, same_everywhere, weights

import horovod.torch as hvd

TOLERANCE = {torch.float16: 5e-3, torch.float32: 1e-5, torch.float64: 1e-12}


@pytest.fixture
def power_of_two(size: int) -> None:
    if size == 3:
        pytest.skip("Adasum needs a power of two")


def everybodys(shape: Any, dtype: torch.dtype, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shape = (hvd.size(), *shape)
    return list(torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype))


def right(result: torch.Tensor, tensors: list[torch.Tensor]) -> bool:
    tolerance = TOLERANCE[result.dtype]
    expected = adasum_of(tensors)
    return result.dtype == tensors[0].dtype and torch.allclose(
        result.double(), expected, rtol=tolerance, atol=tolerance
    )


def test_three_ranks_are_refused(size: int) -> None:
    if size != 3:
        pytest.skip("values for three ranks")
    for form in (hvd.allreduce, hvd.allreduce_, hvd.allreduce_async):
        with pytest.raises(NotImplementedError, match="non-power of 2 ranks"):
            form(torch.ones(2), op=hvd.Adasum)
    with pytest.raises(NotImplementedError, match="non-power of 2 ranks"):
        hvd.grouped_allreduce([torch.ones(2)], op=hvd.Adasum)
    model = network()
    with pytest.raises(NotImplementedError, match="non-power of 2 ranks"):
        hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), op=hvd.Adasum)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_worked_values_of_two_ranks(dtype: torch.dtype, rank: int, size: int) -> None:
    if size != 2:
        pytest.skip("values for two ranks")
    for mine, other, result in (
        ([1, 1], [1, 0], [1.25, 0.75]),
        ([1, 0], [0, 1], [1, 1]),
        ([2, 2], [2, 2], [2, 2]),
        ([3, 4], [0, 0], [3, 4]),
        ([0, 0], [0, 0], [0, 0]),
    ):
        for a, b in ((mine, other), (other, mine)):
            tensor = torch.tensor(b if rank else a, dtype=dtype)
            assert hvd.allreduce(tensor, op=hvd.Adasum).tolist() == result


@pytest.mark.usefixtures("power_of_two")
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_is_the_tree_of_pairs(dtype: torch.dtype, rank: int) -> None:
    for seed, shape in enumerate([(1,), (2,), (3,), (7,), (2, 3), (1001,), (3, 0), ()]):
        tensors = everybodys(shape, dtype, seed)
        before = tensors[rank].clone()
        result = hvd.allreduce(tensors[rank], op=hvd.Adasum)
        assert result.shape == tensors[rank].shape and right(result, tensors), shape
        assert torch.equal(tensors[rank], before)
        copy = tensors[rank].clone()
        assert hvd.allreduce_(copy, op=hvd.Adasum) is copy and right(copy, tensors)


@pytest.mark.usefixtures("power_of_two")
def test_megabytes(rank: int) -> None:
    tensors = everybodys((300_001,), torch.float32)
    assert right(hvd.allreduce(tensors[rank], op=hvd.Adasum), tensors)


@pytest.mark.usefixtures("power_of_two")
def test_tensors_that_travel_together_are_combined_one_by_one(rank: int) -> None:
    parts = [everybodys((5 * i + 1,), torch.float32, i) for i in range(8)]
    together = hvd.grouped_allreduce([p[rank] for p in parts], op=hvd.Adasum)
    assert all(right(one, tensors) for one, tensors in zip(together, parts))
    handles = [
        hvd.allreduce_async(p[rank], name=f"adasum {i}", op=hvd.Adasum) for i, p in enumerate(parts)
    ]
    assert all(right(hvd.synchronize(h), tensors) for h, tensors in zip(handles, parts))


@pytest.mark.usefixtures("power_of_two")
def test_factors(rank: int) -> None:
    tensors = everybodys((9,), torch.float64)
    result = hvd.allreduce(tensors[rank], op=hvd.Adasum, prescale_factor=2.0, postscale_factor=0.25)
    expected = 0.25 * adasum_of([2 * t for t in tensors])
    assert torch.allclose(result, expected)


@pytest.mark.usefixtures("power_of_two")
def test_compressed(rank: int) -> None:
    tensors = everybodys((9,), torch.float32)
    result = hvd.allreduce(tensors[rank], op=hvd.Adasum, compression=hvd.Compression.fp16)
    expected = adasum_of([t.half() for t in tensors])
    assert result.dtype == torch.float32
    assert torch.allclose(result.double(), expected, rtol=5e-3, atol=5e-3)


@pytest.mark.usefixtures("power_of_two")
def test_gradient(rank: int) -> None:
    incoming = everybodys((4,), torch.float64, 5)
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    (hvd.allreduce(x, op=hvd.Adasum) * incoming[rank]).sum().backward()
    assert right(x.grad, incoming)


@pytest.mark.usefixtures("power_of_two")
def test_integers_are_refused(size: int) -> None:
    for dtype in (torch.int32, torch.int64, torch.uint8):
        with pytest.raises((ValueError, hvd.HorovodInternalError), match="not supported"):
            hvd.allreduce(torch.ones(3, dtype=dtype), op=hvd.Adasum)


# --- the optimizer


def simulated(name: str, steps: int, passes: int = 1) -> list[torch.Tensor]:
    """All ranks in one process: each makes its own step, the changes are combined."""
    size = hvd.size()
    models = [network() for _ in range(size)]
    optimizers = [OPTIMIZERS[name](m.parameters()) for m in models]
    data = batches(steps * passes)
    for step in range(steps):
        start = weights(models[0])
        for rank, (model, optimizer) in enumerate(zip(models, optimizers)):
            optimizer.zero_grad()
            for batch in data[step * passes : (step + 1) * passes]:
                loss(model, part(batch, rank)).backward()
            optimizer.step()
        for i, begun in enumerate(start):
            deltas = [weights(model)[i] - begun for model in models]
            after = begun + adasum_of(deltas)
            for model in models:
                list(model.parameters())[i].data.copy_(after)
    return weights(models[0])


@pytest.mark.usefixtures("power_of_two")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_changes_are_combined(name: str) -> None:
    model = network()
    optimizer = hvd.DistributedOptimizer(
        OPTIMIZERS[name](model.parameters()), model.named_parameters(), op=hvd.Adasum
    )
    for batch in batches(3):
        optimizer.zero_grad()
        loss(model, part(batch)).backward()
        optimizer.step()
    assert close(weights(model), simulated(name, 3), 1e-7) and same_everywhere(weights(model))


@pytest.mark.usefixtures("power_of_two")
def test_backward_passes(size: int) -> None:
    model = network()
    optimizer = hvd.DistributedOptimizer(
        OPTIMIZERS["SGD momentum"](model.parameters()),
        model.named_parameters(),
        op=hvd.Adasum,
        backward_passes_per_step=2,
    )
    for first, second in zip(batches(4)[::2], batches(4)[1::2]):
        optimizer.zero_grad()
        loss(model, part(first)).backward()
        loss(model, part(second)).backward()
        if size > 1:
            with pytest.raises(AssertionError, match="Gradients were computed more than"):
                model[0].bias.sum().backward()
        optimizer.step()
    result = weights(model)
    assert same_everywhere(result)
    if size == 1:
        assert close(result, simulated("SGD momentum", 2, 2), 1e-7)


@pytest.mark.usefixtures("power_of_two")
def test_closure_and_guards(size: int) -> None:
    model = network()
    optimizer = hvd.DistributedOptimizer(
        OPTIMIZERS["SGD"](model.parameters()), model.named_parameters(), op=hvd.Adasum
    )
    for batch in batches(3):

        def closure(batch: list[torch.Tensor] = batch) -> torch.Tensor:
            optimizer.zero_grad()
            value = loss(model, part(batch))
            value.backward()
            return value

        value = optimizer.step(closure)
        assert isinstance(value, torch.Tensor)
    assert close(weights(model), simulated("SGD", 3), 1e-7)
    if size == 1:
        return
    with pytest.raises(AssertionError), optimizer.skip_synchronize():
        pass
    assert optimizer.synchronize() is None
    optimizer.zero_grad()
    loss(model, part(batches(1)[0])).backward()
    with pytest.raises(
        AssertionError, match=r"optimizer.zero_grad\(\) was called after loss.backward\(\)"
    ):
        optimizer.zero_grad()
    optimizer.step()
    assert optimizer.op == hvd.Adasum


@pytest.mark.usefixtures("power_of_two")
def test_without_names_and_in_two_groups(size: int) -> None:
    model = network()
    a, b, c, d = model.parameters()
    sgd = torch.optim.SGD([{"params": [a, b]}, {"params": [c, d]}], lr=0.1)
    optimizer = hvd.DistributedOptimizer(sgd, op=hvd.Adasum)
    for batch in batches(3):
        optimizer.zero_grad()
        loss(model, part(batch)).backward()
        optimizer.step()
    assert close(weights(model), simulated("SGD", 3), 1e-7)


@pytest.mark.usefixtures("power_of_two")
def test_compressed_changes(size: int) -> None:
    model = network()
    optimizer = hvd.DistributedOptimizer(
        OPTIMIZERS["SGD"](model.parameters()), op=hvd.Adasum, compression=hvd.Compression.fp16
    )
    for batch in batches(2):
        optimizer.zero_grad()
        loss(model, part(batch)).backward()
        optimizer.step()
    assert close(weights(model), simulated("SGD", 2), 1e-2) and same_everywhere(weights(model))


@pytest.mark.usefixtures("power_of_two")
def test_a_parameter_that_one_rank_does_not_use(rank: int, size: int) -> None:
    model = torch.nn.ModuleList([torch.nn.Linear(2, 1, bias=False) for _ in "ab"])
    for p in model.parameters():
        torch.nn.init.zeros_(p)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0), model.named_parameters(), op=hvd.Adasum
    )
    x = torch.ones(1, 2)
    (model[0](x).sum() + (model[1](x).sum() if rank == 0 else 0)).backward()
    optimizer.step()
    # All agree about the first; in the second only rank 0 has a change, and it counts in full.
    assert model[0].weight.tolist() == model[1].weight.tolist() == [[-1.0, -1.0]]


@pytest.mark.usefixtures("power_of_two")
def test_schedules_and_state(size: int) -> None:
    model = network()
    optimizer = hvd.DistributedOptimizer(
        OPTIMIZERS["Adam"](model.parameters()), model.named_parameters(), op=hvd.Adasum
    )
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    for batch in batches(2):
        optimizer.zero_grad()
        loss(model, part(batch)).backward()
        optimizer.step()
        schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.025
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
