"""Keeps the order of collectives in code that Inductor makes.

Effects (effects.py) order collectives in the graph, but the scheduler of some versions loses that
(PyTorch 2.13 files the dependencies under the buffer's name and looks them up under the
operation's) and sorts by memory instead: each wait lands behind its start, and ranks that compile
for different shapes may wait for each other in different orders, that is, for ever.

So the graph's order is cut into runs of starts, of waits, and of collectives that block; everything
in a run comes after everything in the run before. Inside a run the compiler does as it likes:
starts and waits in any order are the same to the engine, which goes by names. In particular a
gradient starts travelling as soon as it has been computed.

All of this is private API, looked up with care: without it, code is as the compiler makes it.
"""

import sys
import warnings
from typing import Any

from horovodx.torch_ops import effects

_STARTS = ("allreduce_start", "grouped_allreduce_start")
_installed = False


class Runs:
    """The runs of one graph, as its operations come along in order."""

    def __init__(self) -> None:
        self._kind = ""
        self._run: list[str] = []
        self._run_before: list[str] = []

    def add(self, kind: str, buffers: list[str]) -> list[str]:
        """Adds an operation by the buffers it makes; returns those it must come after."""
        if kind != self._kind or kind == "blocking":
            self._run_before, self._run = self._run, []
            self._kind = kind
        self._run += buffers
        return self._run_before


def _kind_of(name: str) -> str:
    if name in _STARTS:
        return "start"
    return "wait" if name in effects.KEPT else "blocking"


def _lower(name: str) -> None:
    from torch._inductor import ir
    from torch._inductor.lowering import fallback_handler, register_lowering
    from torch._inductor.virtualized import V
    from torch.utils import _pytree

    operator = effects.overload(name)
    call = fallback_handler(operator, add_to_fallback_set=False)

    def lower(*args: Any, **kwargs: Any) -> Any:
        args = _pytree.tree_map_only(ir.TensorBox, ir.ExternKernel.require_contiguous, args)
        graph: Any = V.graph
        before = len(graph.operations)
        result = call(*args, **kwargs)
        made = graph.operations[before:]
        if not hasattr(graph, "horovodx_runs"):
            graph.horovodx_runs = Runs()
        after = graph.horovodx_runs.add(_kind_of(name), [each.get_name() for each in made])
        for each in made:
            graph.additional_buffer_deps[each.get_operation_name()].update(after)
        return result

    register_lowering(operator, type_promotion_kind=None)(lower)


def _install() -> None:
    from torch._inductor.graph import GraphLowering

    if "additional_buffer_deps" not in GraphLowering.__init__.__code__.co_names:
        return  # an older Inductor
    for name in effects.ORDERED + effects.UNORDERED + effects.KEPT:
        _lower(name)


def keep_order() -> None:
    """Called whenever one of our operators is traced: takes effect once Inductor has been loaded.

    Loading it takes seconds, so that is left to whoever compiles.
    """
    global _installed
    if _installed or "torch._inductor.lowering" not in sys.modules:
        return
    _installed = True
    try:
        _install()
    except (ImportError, AttributeError, TypeError) as error:
        warnings.warn(
            f"this PyTorch does not let us keep the order of collectives ({error!r})", stacklevel=2
        )
