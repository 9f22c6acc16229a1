"""torch.compile with an engine of size 1; programs/training_step.py has the rest."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from horovodx import torch_ops
from horovodx.torch_ops import inductor

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture(autouse=True)
def nothing_compiled_before() -> None:
    torch._dynamo.reset()


def names_in(graphs: list[torch.fx.GraphModule]) -> list[str]:
    """The names of the collectives in graphs of Dynamo, in order."""
    return [
        argument
        for graph in graphs
        for node in graph.graph.nodes
        for argument in node.args
        if isinstance(argument, str) and node.op == "call_function"
    ]


class Recorder:
    """A backend that keeps the graphs it gets and runs them as they are."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[Tensor]) -> torch.fx.GraphModule:
        self.graphs.append(graph)
        return graph


def test_unnamed_collectives_are_named_after_their_line() -> None:
    def function(x: Tensor) -> Tensor:
        for _ in range(2):
            x = x + torch_ops.allreduce(x)
        return torch_ops.allreduce(x) + torch_ops.broadcast(x, 0)

    recorder = Recorder()
    compiled = torch.compile(function, fullgraph=True, backend=recorder, dynamic=False)
    compiled(torch.ones(2))
    line = function.__code__.co_firstlineno
    here = "compiled.test_compile.py:"
    expected = [f"{here}{line + 2}.0", f"{here}{line + 2}.1"] + [f"{here}{line + 3}.0"] * 2
    assert names_in(recorder.graphs) == expected
    # Compiled again, for another shape: the same names.
    compiled(torch.ones(3))
    assert len(recorder.graphs) == 2
    assert names_in(recorder.graphs[1:]) == expected


def test_an_unused_result_is_still_reduced() -> None:
    def function(x: Tensor) -> Tensor:
        torch_ops.allreduce(x, "unused")
        return x + 1

    for backend in ("aot_eager", "inductor"):
        torch._dynamo.reset()
        compiled = torch.compile(function, fullgraph=True, backend=backend)
        before = torch_ops.count_in_flight()[0]
        compiled(torch.ones(2))
        assert torch_ops.count_in_flight() == (before, before + 1), backend


def test_in_place_and_asynchronous_functions_compile() -> None:
    def function(x: Tensor) -> Tensor:
        torch_ops.allreduce_(x, op=1, prescale=2.0)
        torch_ops.broadcast_(x, 0)
        first = torch_ops.allreduce_async(x, "a")
        second = torch_ops.allreduce_async_(x, "b", op=1, postscale=3.0)
        result = torch_ops.synchronize(first)
        torch_ops.synchronize(second)
        return result

    x = torch.ones(3)
    result = torch.compile(function, fullgraph=True)(x)
    assert (result.tolist(), x.tolist()) == ([2.0] * 3, [6.0] * 3)


def test_shapes_that_change() -> None:
    compiled = torch.compile(lambda x: torch_ops.allreduce(x * 2) + 1, fullgraph=True, dynamic=True)
    for size in (2, 5, 9):
        assert torch.equal(compiled(torch.ones(size)), torch.full((size,), 3.0))


def test_runs_of_starts_and_waits() -> None:
    runs = inductor.Runs()
    assert runs.add("start", ["s1"]) == []
    assert runs.add("start", ["s2"]) == []
    assert runs.add("wait", ["w1"]) == ["s1", "s2"]
    assert runs.add("wait", ["w2"]) == ["s1", "s2"]
    assert runs.add("start", ["s3"]) == ["w1", "w2"]
    assert runs.add("blocking", ["b1"]) == ["s3"]
    assert runs.add("blocking", ["b2"]) == ["b1"]
    assert runs.add("wait", ["w3"]) == ["b2"]
