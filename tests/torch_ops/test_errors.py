"""What goes wrong, and which exception says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from horovodx import torch_ops

pytestmark = pytest.mark.usefixtures("engine")

OPS = torch.ops.horovodx
X = torch.ones(4)
CASES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "type": (lambda: torch_ops.allreduce(X.to(torch.complex64)), RuntimeError, "is not supported"),
    "contiguous": (
        lambda: OPS.allreduce(torch.ones(2, 3).t(), "x", 1, 1.0, 1.0, 0),
        RuntimeError,
        "required to be contiguous",
    ),
    "process set": (
        lambda: torch_ops.allreduce(X, process_set=7),
        RuntimeError,
        "Process set provided does not exist",
    ),
    "root": (lambda: torch_ops.broadcast(X, 3), RuntimeError, "invalid root rank 3"),
    "op": (lambda: torch_ops.reducescatter(X, op=3), RuntimeError, "only supports AVERAGE and SUM"),
    "scalar": (lambda: torch_ops.reducescatter(torch.tensor(1.0)), ValueError, "scalar inputs"),
    "splits type": (
        lambda: torch_ops.alltoall(X, torch.tensor([4])),
        RuntimeError,
        "32-bit integer elements",
    ),
    "splits shape": (
        lambda: torch_ops.alltoall(X, torch.tensor([[4]], dtype=torch.int32)),
        RuntimeError,
        "expects a 1D splits tensor",
    ),
    "splits sum": (lambda: torch_ops.alltoall(X, [5]), RuntimeError, "Sum of splits"),
    "empty group": (lambda: torch_ops.grouped_allreduce([]), ValueError, "is empty"),
    "ticket": (
        lambda: OPS.allreduce_wait(torch.tensor(12345), [4], torch.float32),
        RuntimeError,
        "no allreduce with ticket 12345",
    ),
    "device": (
        lambda: torch_ops.allreduce(X.to("meta")).cpu(),
        (NotImplementedError, RuntimeError),
        "meta",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_error(case: str) -> None:
    call, kind, text = CASES[case]
    with pytest.raises(kind, match=text):
        call()


def test_everything_works_after_an_error() -> None:
    with pytest.raises(RuntimeError):
        torch_ops.allreduce(X, "again", process_set=7)
    assert torch_ops.allreduce(X, "again").tolist() == X.tolist()


def test_an_error_comes_out_of_compiled_code() -> None:
    @torch.compile(fullgraph=True, backend="aot_eager")
    def wrong(x: torch.Tensor) -> torch.Tensor:
        return torch_ops.allreduce(x, "wrong", process_set=7) + 1

    with pytest.raises(RuntimeError, match="Process set provided does not exist"):
        wrong(X)
