"""The operators one by one, with an engine of size 1: PyTorch's own checker, and the types."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from horovodx import torch_ops

pytestmark = pytest.mark.usefixtures("engine")

SUM = 1
HOW = ("n", SUM, 1.0, 1.0, 0)
NO_SPLITS = torch.empty(0, dtype=torch.int32)


def with_gradient(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


CASES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "allreduce": ("allreduce", (with_gradient(3, 2), *HOW)),
    "allreduce_": ("allreduce_", (torch.randn(3, 2), *HOW)),
    "grouped_allreduce": ("grouped_allreduce", ([with_gradient(3, 2), with_gradient(4)], *HOW)),
    "allgather": ("allgather", (with_gradient(3, 2), "n", 0)),
    "allgather, rows known": ("allgather", (with_gradient(3, 2), "n", 0, 3)),
    "allgather_backward": ("allgather_backward", (torch.randn(3, 2), 3, "n", 0)),
    "broadcast": ("broadcast", (with_gradient(3, 2), 0, "n", 0)),
    "broadcast_": ("broadcast_", (torch.randn(3, 2), 0, "n", 0)),
    "broadcast_backward": ("broadcast_backward", (torch.randn(3, 2), 0, "n", 0)),
    "alltoall": ("alltoall", (with_gradient(3, 2), NO_SPLITS, "n", 0)),
    "alltoall, rows left": (
        "alltoall",
        (with_gradient(3, 2), torch.tensor([2], dtype=torch.int32), "n", 0),
    ),
    "reducescatter": ("reducescatter", (with_gradient(3, 2), *HOW)),
    "barrier": ("barrier", (0,)),
}


@pytest.mark.parametrize("case", CASES)
def test_opcheck_passes(case: str) -> None:
    name, arguments = CASES[case]
    torch.library.opcheck(getattr(torch.ops.horovodx, name).default, arguments)


def test_opcheck_passes_for_what_returns_tickets() -> None:
    # Not the checks that compare two runs: a ticket is another number each time.
    checks = ("test_schema", "test_faketensor")
    start = torch.ops.horovodx.allreduce_start.default
    torch.library.opcheck(start, (torch.randn(3), *HOW), test_utils=checks)
    group = torch.ops.horovodx.grouped_allreduce_start.default
    torch.library.opcheck(group, ([torch.randn(3), torch.randn(2)], *HOW), test_utils=checks)


TYPES = [
    torch.uint8,
    torch.int8,
    torch.uint16,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
    torch.bool,
    torch.bfloat16,
]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_of_the_engine(dtype: torch.dtype) -> None:
    tensor = torch.tensor([[1, 0], [0, 1]]).to(dtype)
    for result in (
        torch_ops.allreduce(tensor, op=SUM),
        torch_ops.allgather(tensor),
        torch_ops.broadcast(tensor, 0),
        torch_ops.alltoall(tensor),
    ):
        assert isinstance(result, torch.Tensor)
        assert result.dtype == dtype
        assert torch.equal(result, tensor)


def test_scaling() -> None:
    result = torch_ops.allreduce(torch.tensor([3.0]), op=SUM, prescale=2.0, postscale=5.0)
    assert result.tolist() == [30.0]


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0), (1,), (2, 3, 4)])
def test_every_shape(shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape)
    assert torch.equal(torch_ops.allreduce(tensor), tensor)
    assert torch.equal(torch_ops.broadcast(tensor, 0), tensor)
    if shape:
        assert torch.equal(torch_ops.allgather(tensor), tensor)
        assert torch.equal(torch_ops.reducescatter(tensor), tensor)


def test_layouts_that_are_not_contiguous() -> None:
    tensor = torch.arange(6.0).reshape(2, 3).t()
    assert torch.equal(torch_ops.allreduce(tensor), tensor)
    image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert torch.equal(torch_ops.broadcast(image, 0), image)
    assert torch.equal(torch_ops.allreduce_(tensor), tensor)


def test_inputs_are_left_alone() -> None:
    tensor = torch.ones(4, 2)
    before = tensor.clone()
    torch_ops.allreduce(tensor, op=SUM, prescale=3.0)
    torch_ops.grouped_allreduce([tensor], op=SUM, prescale=3.0)
    torch_ops.reducescatter(tensor, op=SUM, prescale=3.0)
    assert torch.equal(tensor, before)


def test_in_place_functions_return_their_argument() -> None:
    tensor = torch.ones(2)
    assert torch_ops.allreduce_(tensor, op=SUM, postscale=2.0) is tensor
    assert torch_ops.broadcast_(tensor, 0) is tensor
    assert torch_ops.grouped_allreduce_([tensor], op=SUM, postscale=2.0)[0] is tensor
    assert tensor.tolist() == [4.0, 4.0]


def test_started_allreduces_wait_for_their_own_name() -> None:
    before = torch_ops.count_in_flight()[0]
    first = torch_ops.allreduce_async(torch.tensor([1.0]), "twice")
    second = torch_ops.allreduce_async(torch.tensor([2.0]), "twice")
    assert torch_ops.count_in_flight()[0] == before + 2
    assert torch_ops.synchronize(second).tolist() == [2.0]
    assert torch_ops.synchronize(first).tolist() == [1.0]
    assert torch_ops.count_in_flight()[0] == before


def test_the_input_may_change_after_the_start() -> None:
    tensor = torch.ones(1000)
    pending = torch_ops.allreduce_async(tensor, "changed")
    tensor.zero_()
    assert torch_ops.synchronize(pending).eq(1.0).all()
