"""DistributedOptimizer: any torch optimizer, with gradients reduced over all ranks."""

import warnings
from typing import Any, Iterable, List, Optional, Tuple, Union

import torch

from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.torch._adasum_optimizer import DeltaReducer
from horovod.torch._basics import Adasum, Average, check_adasum, rocm_built, size
from horovod.torch._gradient_optimizer import GradientReducer
from horovod.torch._split_choice import is_split
from horovod.torch._split_optimizer import SplitReducer
from horovod.torch.compression import Compression

Groups = Union[int, List[List[torch.Tensor]]]


def DistributedOptimizer(
    optimizer: torch.optim.Optimizer,
    named_parameters: Optional[Iterable[Tuple[str, torch.Tensor]]] = None,
    compression: Any = Compression.none,
    backward_passes_per_step: int = 1,
    op: int = Average,
    gradient_predivide_factor: float = 1.0,
    num_groups: int = 0,
    groups: Optional[Groups] = None,
    sparse_as_dense: bool = False,
    process_set: ProcessSet = global_process_set,
    *,
    split_allreduce: Union[bool, str, None] = None,
) -> Any:
    """An optimizer like the one given that averages gradients over all ranks before each step.

    Gradients leave as soon as they are there, while backward() goes on; step() waits for them.

    optimizer: what it is made from; groups, options and state are shared with it.
    named_parameters: names under which ranks know the gradients, e.g. model.named_parameters().
    compression: what travels, e.g. hvd.Compression.fp16.
    backward_passes_per_step: backward() calls whose gradients are added up before they travel.
    op: Average, Sum or Adasum (and Min, Max, Product).
    gradient_predivide_factor: for Average, a part of the division is done before the sum.
    groups: a number of groups, or lists of parameters, that travel together.
    sparse_as_dense: sparse gradients travel as dense ones.
    process_set: the ranks that reduce together; others keep their gradients.
    split_allreduce: not Horovod's. True: step() returns when gradients are added up, and they come
        back to all ranks while the next forward runs; a module's parameters are updated right
        before it is called. What reads parameters in any other way calls `optimizer.flush()` first.
        "independent": the same for an optimizer that is not torch's own, whose update of a
        parameter looks at nothing of other parameters. None: as HOROVODX_SPLIT_ALLREDUCE (0) says.
    """
    if gradient_predivide_factor != 1.0:
        if rocm_built():
            raise ValueError("gradient_predivide_factor not supported yet with ROCm")
        if op != Average:
            raise ValueError("gradient_predivide_factor not supported with op != Average")
    if backward_passes_per_step <= 0:
        raise ValueError("backward_passes_per_step must be > 0")
    if num_groups != 0:
        warnings.warn(
            "Parameter `num_groups` has been replaced by `groups`.", DeprecationWarning, 2
        )
        groups = num_groups if groups is None else groups
    if groups is not None:
        _check_groups(groups)
    if op == Adasum:
        check_adasum(process_set)

    reducer: Any = DeltaReducer if op == Adasum and size() > 1 else GradientReducer
    if is_split(split_allreduce, optimizer, op, groups, gradient_predivide_factor):
        reducer = SplitReducer
    wrapped = _of_class(optimizer, reducer)
    if reducer is DeltaReducer:
        wrapped._begin(named_parameters, compression, backward_passes_per_step)
    else:
        wrapped._begin(
            named_parameters,
            compression,
            backward_passes_per_step,
            op,
            gradient_predivide_factor,
            groups,
            sparse_as_dense,
            process_set,
        )
    return wrapped


def _of_class(optimizer: torch.optim.Optimizer, reducer: type) -> Any:
    """The same optimizer as an instance of a class of the same name that also reduces."""
    base = optimizer.__class__
    both = type(base.__name__, (reducer, base), {"__module__": base.__module__})
    wrapped: Any = object.__new__(both)
    wrapped.__dict__.update(optimizer.__dict__)
    # A learning-rate scheduler puts its own step() on the instance it watches: not on this one.
    wrapped.__dict__.pop("step", None)
    return wrapped


def _check_groups(groups: Any) -> None:
    if isinstance(groups, bool) or not isinstance(groups, (int, list)):
        raise ValueError("groups should be either an integer > 0 or a list of lists of tensors")
    if isinstance(groups, int):
        if groups <= 0:
            raise ValueError("groups should be an integer > 0")
        return
    seen = set()
    for group in groups:
        for p in group:
            if not isinstance(p, torch.Tensor):
                raise ValueError("groups must consist of torch.Tensor")
            if id(p) in seen:
                raise ValueError("A parameter can only appear once in groups")
            seen.add(id(p))


__all__ = ["DistributedOptimizer"]
