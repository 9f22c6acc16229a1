"""From torch tensors to what the engine takes: an address, a type number and a shape."""

from typing import Any, FrozenSet, Sequence

import torch

TYPE_NUMBERS = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 3,
    torch.int32: 4,
    torch.int64: 5,
    torch.float16: 6,
    torch.float32: 7,
    torch.float64: 8,
    torch.bool: 9,
    torch.bfloat16: 10,
}
if hasattr(torch, "uint16"):
    TYPE_NUMBERS[torch.uint16] = 2

MOVED: FrozenSet[torch.dtype] = frozenset(TYPE_NUMBERS)
REDUCED: FrozenSet[torch.dtype] = MOVED - {getattr(torch, "uint16", None)}  # type: ignore[arg-type]
SCATTERED: FrozenSet[torch.dtype] = REDUCED - {torch.bool}
NOT_SCALED: FrozenSet[torch.dtype] = frozenset({torch.int16, torch.bool})

_AVERAGE = 0


def check(tensor: Any, types: FrozenSet[torch.dtype]) -> None:
    """Refuses what the engine can't read."""
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"Expected a torch.Tensor, got {type(tensor).__name__}.")
    if tensor.dtype not in types:
        raise ValueError(f"Tensor type {tensor.type()} is not supported.")
    if not tensor.is_contiguous():
        raise ValueError("Tensor is required to be contiguous.")


def check_reduction(
    tensor: Any, types: FrozenSet[torch.dtype], op: int, prescale: float, postscale: float
) -> None:
    """The same, and that the type can be multiplied if it must be."""
    check(tensor, types)
    if tensor.dtype in NOT_SCALED and (op == _AVERAGE or prescale != 1.0 or postscale != 1.0):
        raise ValueError(
            f"Scaling is not supported for {tensor.dtype}, and an average is a scaled sum: use "
            "Sum, Min, Max or Product without factors."
        )


def check_all(tensors: Sequence[Any], types: FrozenSet[torch.dtype]) -> None:
    """The same for a group, which must be on one device."""
    for tensor in tensors:
        check(tensor, types)
    if any(tensor.device != tensors[0].device for tensor in tensors):
        from horovodx.errors import HorovodInternalError

        raise HorovodInternalError("Tensors in list must be on same device.")


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself if the CPU can read it, else a copy that it can."""
    return tensor if tensor.device.type == "cpu" else tensor.detach().cpu()
