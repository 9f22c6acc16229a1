"""What collectives must give, by NumPy, from everybody's inputs: rank r knows all of them."""

import functools
import os
import zlib
from collections.abc import Sequence

import numpy as np
import torch

import horovod.torch as hvd

SEED = int(os.environ.get("HVDX_SEED", "0"))

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
TYPES = [*INTEGERS, *FLOATS, torch.bool]
UNSCALED = [torch.int16, torch.bool]  # reduced, but never multiplied

# No dimension, no elements, fewer than ranks, odd, many dimensions.
SHAPES: list[tuple[int, ...]] = [
    (),
    (0,),
    (2, 0, 3),
    (1,),
    (2,),
    (7,),
    (2, 3),
    (5, 1, 17),
    (1, 2, 1, 3, 1, 2, 1, 2),
    (1031,),
]


def everybodys(
    what: str, dtype: torch.dtype, shape: Sequence[int], high: int = 4
) -> list[torch.Tensor]:
    """A tensor for each rank: small whole numbers, so that no type rounds their sums."""
    low = 0 if dtype in (torch.uint8, torch.bool) else -high
    top = 1 if dtype == torch.bool else high
    tensors = []
    for rank in range(hvd.size()):
        generator = torch.Generator().manual_seed(
            zlib.crc32(f"{SEED} {what} {dtype} {list(shape)} {rank}".encode())
        )
        tensors.append(torch.randint(low, top + 1, tuple(shape), generator=generator).to(dtype))
    return tensors


def numpy(tensor: torch.Tensor) -> np.ndarray:
    """NumPy has no bfloat16: float32 holds all of its values."""
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def scaled(array: np.ndarray, factor: float) -> np.ndarray:
    """Integers by way of float64, cut towards zero; float16 and float32 with a float32 factor."""
    if factor == 1.0:
        return array
    if array.dtype.kind in "iu":
        return np.trunc(array.astype(np.float64) * factor).astype(array.dtype)
    if array.dtype == np.float64:
        return np.asarray(array * factor)
    return (array.astype(np.float32) * np.float32(factor)).astype(array.dtype)


def allreduce(
    tensors: Sequence[torch.Tensor], op: int, prescale: float = 1.0, postscale: float = 1.0
) -> torch.Tensor:
    """postscale · k · REDUCE(prescale · in), k = 1/n for Average."""
    reduce_two = {
        hvd.Average: np.add,
        hvd.Sum: np.add,
        hvd.Min: np.minimum,
        hvd.Max: np.maximum,
        hvd.Product: np.multiply,
    }[op]
    before = [scaled(numpy(tensor), prescale) for tensor in tensors]
    total = np.asarray(functools.reduce(reduce_two, before))
    after = scaled(total, postscale / len(tensors) if op == hvd.Average else postscale)
    return torch.from_numpy(np.ascontiguousarray(after)).reshape(total.shape).to(tensors[0].dtype)


def rows_of(rank: int, rows: int, size: int) -> slice:
    """Reducescatter's share of `rank`: the first ones get one row more."""
    least, more = divmod(rows, size)
    first = rank * least + min(rank, more)
    return slice(first, first + least + (1 if rank < more else 0))


def adasum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rule for two vectors."""
    dot, aa, bb = float((a * b).sum()), float((a * a).sum()), float((b * b).sum())
    tiny = float(np.sqrt(np.finfo(np.float64).tiny))
    ca = 1 - dot / (2 * aa) if aa >= tiny else 1.0
    cb = 1 - dot / (2 * bb) if bb >= tiny else 1.0
    return np.asarray(ca * a + cb * b)


def adasum_of(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """A balanced tree: neighbours first."""
    level = [tensor.double().numpy() for tensor in tensors]
    while len(level) > 1:
        level = [adasum(a, b) for a, b in zip(level[::2], level[1::2])]
    return torch.from_numpy(level[0])


def same(result: torch.Tensor, expected: torch.Tensor) -> bool:
    """Type, shape and every bit (no NaN here)."""
    return (
        result.dtype == expected.dtype
        and result.shape == expected.shape
        and torch.equal(result, expected)
    )
