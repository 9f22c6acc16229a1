"""SyncBatchNorm: every rank's batch normalised as ordinary batch norm does the joined batch."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest
import torch

import horovod.torch as hvd

SHAPES = {"2-D": (), "3-D": (5,), "4-D": (3, 2), "5-D": (2, 1, 3)}
by_shape = pytest.mark.parametrize("rest", SHAPES.values(), ids=SHAPES)


class Plain(torch.nn.modules.batchnorm._BatchNorm):
    """torch's own, for any number of dimensions."""

    def _check_input_dim(self, input: torch.Tensor) -> None:
        pass


def everybodys(rows: Sequence[int], rest: Sequence[int], seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    whole = torch.randn(sum(rows), 4, *rest, generator=generator, dtype=torch.float64) * 3 + 2
    return list(whole.split(list(rows)))


def pair(**how: Any) -> Any:
    """Ours and torch's, with the same weights."""
    torch.manual_seed(0)
    plain = Plain(4, **how).double()
    if plain.weight is not None:
        torch.nn.init.normal_(plain.weight)
        torch.nn.init.normal_(plain.bias)
    ours = hvd.SyncBatchNorm(4, **how).double()
    ours.load_state_dict(copy.deepcopy(plain.state_dict()))
    return ours, plain


def same_state(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    left, right = a.state_dict(), b.state_dict()
    return list(left) == list(right) and all(torch.allclose(left[k], right[k]) for k in left)


def compare(
    ours: Any, plain: Any, rows: Sequence[int], rest: Sequence[int], rank: int, steps: int = 3
) -> None:
    """Forward, backward and statistics, several times."""
    for step in range(steps):
        parts = everybodys(rows, rest, step)
        mine = parts[rank].clone().requires_grad_()
        whole = torch.cat(parts).requires_grad_()
        weight = torch.linspace(0.5, 2.0, whole.numel(), dtype=torch.float64).view(whole.shape)
        first = sum(rows[:rank])
        own = slice(first, first + rows[rank])
        for module in (ours, plain):
            module.zero_grad()
        output, right = ours(mine), plain(whole)
        assert output.dtype == mine.dtype and torch.allclose(output, right[own])
        (output.sin() * weight[own]).sum().backward()
        (right.sin() * weight).sum().backward()
        assert torch.allclose(mine.grad, whole.grad[own])
        if plain.weight is not None:
            # The parameters' gradients stay with the rank: the optimizer reduces them.
            for p, q in zip(ours.parameters(), plain.parameters()):
                total = hvd.allreduce(p.grad, op=hvd.Sum)
                assert torch.allclose(total, q.grad)
        assert same_state(ours, plain)


@by_shape
def test_training(rest: Sequence[int], rank: int, size: int) -> None:
    compare(*pair(), [3] * size, rest, rank)


@by_shape
def test_uneven_batches(rest: Sequence[int], rank: int, size: int) -> None:
    compare(*pair(), [r + 2 for r in range(size)], rest, rank)


def test_a_rank_without_rows(rank: int, size: int) -> None:
    if size == 1:
        pytest.skip("somebody must have rows")
    compare(*pair(), [0] + [4] * (size - 1), (2,), rank)


def test_one_row_each(rank: int, size: int) -> None:
    """Too few for one rank, enough for all together."""
    if size == 1:
        pytest.skip("too few")
    compare(*pair(), [1] * size, (), rank)


@pytest.mark.parametrize("momentum", [None, 0.0, 0.5, 1.0])
def test_momentum(momentum: Any, rank: int, size: int) -> None:
    compare(*pair(momentum=momentum), [3] * size, (2,), rank, steps=4)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("track", [False, True])
def test_without_weights_or_statistics(affine: bool, track: bool, rank: int, size: int) -> None:
    compare(*pair(affine=affine, track_running_stats=track, eps=0.1), [3] * size, (2,), rank)


def test_evaluation_is_local(rank: int, size: int) -> None:
    ours, plain = pair()
    compare(ours, plain, [3] * size, (2,), rank, steps=1)
    ours.eval()
    plain.eval()
    if rank == 0:  # no other rank is needed
        x = everybodys([5], (2,), 9)[0]
        assert torch.allclose(ours(x), plain(x))
    before = copy.deepcopy(ours.state_dict())
    ours(torch.randn(2, 4, 3, dtype=torch.float64))
    assert all(torch.equal(before[k], v) for k, v in ours.state_dict().items())


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float16, 4e-3), (torch.bfloat16, 3e-2), (torch.float32, 1e-5)]
)
def test_other_types(dtype: torch.dtype, tolerance: float, rank: int, size: int) -> None:
    """Halves are summed up in float32, whether the weights are halves or not."""
    parts = everybodys([16] * size, (5,))
    for weights in {dtype, torch.float32}:
        ours, plain = pair()
        ours = ours.to(weights)
        mine = parts[rank].to(dtype).requires_grad_()
        whole = torch.cat([p.to(dtype).double() for p in parts]).requires_grad_()
        own = slice(16 * rank, 16 * rank + 16)
        output, right = ours(mine), plain(whole)
        assert output.dtype == dtype
        assert torch.allclose(output.double(), right[own], rtol=tolerance, atol=tolerance)
        output.square().sum().backward()
        right.square().sum().backward()
        assert mine.grad.dtype == dtype
        scale = whole.grad.abs().max().item() + 1
        wide = 20 * tolerance * scale
        assert torch.allclose(mine.grad.double(), whole.grad[own], atol=wide, rtol=tolerance)
        assert torch.allclose(
            ours.running_mean.double(), plain.running_mean, rtol=tolerance, atol=tolerance
        )
        assert torch.allclose(ours.running_var.double(), plain.running_var, rtol=0.01, atol=0.01)


def test_large_numbers_keep_their_variance(rank: int, size: int) -> None:
    """A mean of 10000 and a deviation of 0.1 in float32: no difference of large squares."""
    generator = torch.Generator().manual_seed(1)
    whole = torch.randn(64 * size, 4, generator=generator, dtype=torch.float64) * 0.1 + 10_000
    ours, plain = pair(affine=False)
    output = ours.float()(whole[64 * rank : 64 * rank + 64].float())
    right = plain(whole.float().double())[64 * rank : 64 * rank + 64]
    assert torch.allclose(output.double(), right, atol=0.02)


def test_channels_last(rank: int, size: int) -> None:
    ours, plain = pair()
    parts = everybodys([2] * size, (3, 3))
    mine = parts[rank].to(memory_format=torch.channels_last).requires_grad_()
    whole = torch.cat(parts).requires_grad_()
    own = slice(2 * rank, 2 * rank + 2)
    output, right = ours(mine), plain(whole)
    assert torch.allclose(output, right[own])
    output.square().sum().backward()
    right.square().sum().backward()
    assert torch.allclose(mine.grad, whole.grad[own])


def test_inputs_that_are_no_batch() -> None:
    for shape in ((), (4,)):
        with pytest.raises(ValueError, match="expected at least 2D input"):
            hvd.SyncBatchNorm(4)(torch.ones(shape))


def test_it_is_a_batch_norm(size: int) -> None:
    layer = hvd.SyncBatchNorm(7, 1e-3, 0.2, True, True)
    assert isinstance(layer, torch.nn.modules.batchnorm._BatchNorm)
    assert (layer.num_features, layer.eps, layer.momentum) == (7, 1e-3, 0.2)
    assert list(layer.state_dict()) == list(torch.nn.BatchNorm1d(7).state_dict())


def test_a_whole_network(rank: int, size: int) -> None:
    """Two layers of it, with the optimizer: one process with the joined batch does the same."""

    def made(norm: Any) -> torch.nn.Module:
        torch.manual_seed(3)
        return torch.nn.Sequential(
            torch.nn.Linear(4, 4), norm(4), torch.nn.Tanh(), torch.nn.Linear(4, 4), norm(4)
        ).double()

    ours, plain = made(hvd.SyncBatchNorm), made(Plain)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(ours.parameters(), lr=0.1), ours.named_parameters()
    )
    alone = torch.optim.SGD(plain.parameters(), lr=0.1)
    for step in range(4):
        parts = everybodys([3] * size, (), step)
        optimizer.zero_grad()
        ours(parts[rank]).sin().mean().backward()
        optimizer.step()
        alone.zero_grad()
        plain(torch.cat(parts)).sin().mean().backward()
        alone.step()
    assert same_state(ours, plain)
