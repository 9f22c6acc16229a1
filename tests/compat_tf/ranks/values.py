"""Inputs of all ranks, which each rank knows, and what collectives must make of them."""

import zlib
from typing import Any, List, Sequence

import numpy as np
import tensorflow as tf

import horovod.tensorflow as hvd

INTEGERS = [tf.uint8, tf.int8, tf.int32, tf.int64]
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]
REDUCED = [*INTEGERS, *FLOATS]
SCATTERED = [tf.int32, tf.int64, *FLOATS]
MOVED = [*REDUCED, tf.uint16, tf.int16, tf.bool]
# No dimension, no elements, fewer than ranks, odd, many dimensions.
SHAPES: List[Sequence[int]] = [(), (0,), (2, 0, 3), (1,), (7,), (5, 1, 17), (1, 2, 1, 3, 1, 2)]


def everybodys(what: str, dtype: tf.DType, shape: Sequence[int]) -> List[tf.Tensor]:
    """A tensor for each rank: small whole numbers, so that no type rounds their sums."""
    tensors = []
    low = 0 if dtype in (tf.uint8, tf.uint16, tf.bool) else -4
    for rank in range(hvd.size()):
        seed = zlib.crc32(f"{what} {dtype.name} {list(shape)} {rank}".encode())
        numbers = np.random.RandomState(seed).randint(low, 2 if dtype == tf.bool else 5, shape)
        tensors.append(tf.cast(tf.constant(numbers, tf.int64), dtype))
    return tensors


def array(tensor: Any) -> np.ndarray:
    """Float64 or int64: they hold what all types here hold."""
    tensor = tf.convert_to_tensor(tensor)
    return tf.cast(tensor, tf.float64 if tensor.dtype.is_floating else tf.int64).numpy()


def same(result: Any, expected: Any, dtype: tf.DType) -> bool:
    """Type, shape and every value."""
    expected = np.asarray(expected)
    return (
        result.dtype == dtype
        and tuple(result.shape) == expected.shape
        and np.array_equal(array(result), expected)
    )


def rows_of(rank: int, rows: int, size: int) -> slice:
    """Reducescatter's share of `rank`: the first ones get one row more."""
    least, more = divmod(rows, size)
    first = rank * least + min(rank, more)
    return slice(first, first + least + (1 if rank < more else 0))
