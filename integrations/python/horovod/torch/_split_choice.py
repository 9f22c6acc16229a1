"""Whether a DistributedOptimizer splits: what is asked for, and what goes together with it."""

import os
import warnings
from typing import Any, Optional, Union

import torch

from horovod.torch._basics import Average, Sum

VARIABLE = "HOROVODX_SPLIT_ALLREDUCE"
# Each looks at one parameter at a time: its gradient, its state and the options of its group.
_INDEPENDENT = (
    *("ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam"),
    *("RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam"),
)


def is_split(
    asked: Union[bool, str, None],
    optimizer: torch.optim.Optimizer,
    op: int,
    groups: Any,
    predivide: float,
) -> bool:
    """True if so; raises if it was asked for and can't be, warns if only the variable says so."""
    if asked not in (None, True, False, "independent"):
        raise ValueError(f"split_allreduce must be True, False or 'independent', not {asked!r}")
    if asked is False or (asked is None and not _by_variable()):
        return False
    why = _why_not(optimizer, asked == "independent", op, groups, predivide)
    if why is None:
        return True
    if asked is None:
        warnings.warn(f"{VARIABLE}: allreduce is not split: {why}", stacklevel=3)
        return False
    raise ValueError(f"split_allreduce: {why}")


def _by_variable() -> bool:
    value = os.environ.get(VARIABLE, "0")
    if value not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE} must be 0 or 1, not {value!r}")
    return value == "1"


def _why_not(
    optimizer: torch.optim.Optimizer, independent: bool, op: int, groups: Any, predivide: float
) -> Optional[str]:
    kind = type(optimizer)
    own = any(kind is getattr(torch.optim, name, None) for name in _INDEPENDENT)
    if isinstance(optimizer, torch.optim.LBFGS):
        return "torch.optim.LBFGS moves all parameters along one direction"
    if not own and not independent:
        return (
            f"{kind.__module__}.{kind.__qualname__} is not one of torch's own optimizers. If its "
            "update of a parameter looks at that parameter, its gradient and its state alone, say "
            "split_allreduce='independent'"
        )
    if any(group.get("differentiable") for group in optimizer.param_groups):
        return "differentiable=True needs the update in step()"
    if op not in (Average, Sum):
        return "only Average and Sum can be split"
    if groups is not None:
        return "groups do not go with it: buckets are made of what is ready together"
    if predivide != 1.0:
        return "gradient_predivide_factor does not go with it"
    return None
