"""Tells the compiler that collectives are more than their results.

A collective whose result nobody uses must still run, since the other ranks take part in it, and
collectives must keep the order of the program, since ranks that wait for each other in different
orders wait for ever. PyTorch knows "effectful" operators, which are neither dropped nor reordered;
registering them is private API (torch._higher_order_ops.effects). Without it collectives are only
kept from being dropped, the compiler moves each start to its wait, and nothing overlaps.
"""

import warnings

import torch
from torch import fx

# Operators that start or do a collective and return their results. Those that write to their
# argument cannot be effectful; the functions of this package do not use them in compiled code.
ORDERED = (
    "allreduce_start",
    "grouped_allreduce_start",
    "allreduce",
    "grouped_allreduce",
    "allgather",
    "allgather_backward",
    "broadcast",
    "broadcast_backward",
    "reducescatter",
    "barrier",
)
# Two results whose sizes are known when it runs are more than Inductor (2.13) can do in an
# effectful operator: it takes the size of one for the other's. So this one is kept, and ordered by
# inductor.py alone.
UNORDERED = ("alltoall",)
# Kept although nobody uses its result, but free to move: down to where its result is used.
KEPT = ("allreduce_wait",)


def overload(name: str) -> torch._ops.OpOverload:
    """The operator as graphs have it."""
    found: torch._ops.OpOverload = getattr(torch.ops.horovodx, name).default
    return found


def _register_ordered() -> None:
    from torch._higher_order_ops.effects import _register_effectful_op

    try:
        from torch._library.effects import EffectType
    except ImportError:  # its older place
        from torch._higher_order_ops.effects import _EffectType as EffectType
    for name in ORDERED:
        _register_effectful_op(overload(name), EffectType.ORDERED)


def register() -> None:
    for name in ORDERED + UNORDERED + KEPT:
        fx.node.has_side_effect(overload(name))
    try:
        _register_ordered()
    except (ImportError, AttributeError, TypeError) as error:
        warnings.warn(
            f"this PyTorch does not let us order collectives in compiled code ({error!r}): "
            "they run one after the other",
            stacklevel=2,
        )
