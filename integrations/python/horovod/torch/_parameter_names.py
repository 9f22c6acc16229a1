"""Names for an optimizer's parameters: ranks know each other's gradients by them."""

from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import torch

Named = Optional[Iterable[Tuple[str, torch.Tensor]]]


def find_duplicates(lst: List[Any]) -> List[Any]:
    """What is in a list more than once, each once."""
    seen, repeated = set(), []
    for one in lst:
        if one in seen and one not in repeated:
            repeated.append(one)
        seen.add(one)
    return repeated


def names_for(
    optimizer: Any, named_parameters: Named, default: Callable[[int, int], str]
) -> Dict[torch.Tensor, str]:
    """A name for every parameter; `default(group, index)` if none are given."""
    groups = optimizer.param_groups
    if named_parameters is None:
        return {
            p: default(i, j)
            for i, group in enumerate(groups)
            for j, p in enumerate(group["params"])
        }
    named = list(named_parameters)
    if any(not isinstance(pair, tuple) for pair in named):
        raise ValueError(
            "named_parameters should be a sequence of tuples (name, parameter), usually "
            "produced by model.named_parameters()."
        )
    repeated = find_duplicates([name for name, _ in named])
    if repeated:
        raise ValueError(
            "Parameter names in named_parameters must be unique. "
            f"Found duplicates: {', '.join(map(str, repeated))}"
        )
    names = {p: name for name, p in named}
    unnamed = sum(1 for group in groups for p in group["params"] if p not in names)
    if unnamed:
        raise ValueError(
            "named_parameters was specified, but one or more model parameters were not named: "
            f"{unnamed} of them. Python object ids and model.named_parameters() may help."
        )
    return names
