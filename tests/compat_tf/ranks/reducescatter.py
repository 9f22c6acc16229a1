"""Reducescatter: every type, rows that do not divide, groups, factors."""

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from values import SCATTERED, array, everybodys, rows_of, same

import horovod.tensorflow as hvd

How = Callable[..., Any]


@pytest.mark.parametrize("dtype", SCATTERED, ids=lambda t: t.name)
def test_sum(how: How, dtype: tf.DType, rank: int, size: int) -> None:
    for rows in (0, 1, size, 5, 2 * size + 1):
        tensors = everybodys("scatter", dtype, (rows, 3))
        result = how(lambda x: hvd.reducescatter(x, op=hvd.Sum))(tensors[rank])
        total = sum(array(t) for t in tensors)
        assert same(result, total[rows_of(rank, rows, size)], dtype)


def test_average_and_factors(how: How, rank: int, size: int) -> None:
    x = tf.constant([[1.0 + rank]] * 4)
    mine = (4 // size) + (1 if rank < 4 % size else 0)
    assert np.allclose(array(how(hvd.reducescatter)(x)), [[(1 + size) / 2]] * mine)
    result = how(lambda x: hvd.reducescatter(x, prescale_factor=2.0, postscale_factor=3.0))(x)
    assert np.allclose(array(result), [[3.0 * (1 + size)]] * mine)
    result = how(lambda x: hvd.reducescatter(x, compression=hvd.Compression.fp16))(x)
    assert result.dtype == tf.float32
    assert np.allclose(array(result), [[(1 + size) / 2]] * mine)


def test_groups(how: How, rank: int, size: int) -> None:
    several = [everybodys(f"scatter {i}", tf.float32, (5 + i, 2)) for i in range(3)]
    results = how(lambda *ts: hvd.grouped_reducescatter(list(ts), op=hvd.Sum))(
        *(tensors[rank] for tensors in several)
    )
    for i, (result, tensors) in enumerate(zip(results, several)):
        total = sum(array(t) for t in tensors)
        assert same(result, total[rows_of(rank, 5 + i, size)], tf.float32)
    assert hvd.grouped_reducescatter([]) == []


def test_what_it_does_not_take(how: How) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="scalar inputs"):
        how(hvd.reducescatter)(tf.constant(1.0))
    for op in (hvd.Min, hvd.Adasum):
        with pytest.raises(tf.errors.AbortedError, match="only supports AVERAGE and SUM"):
            how(lambda x, op=op: hvd.reducescatter(x, op=op))(tf.constant([1.0, 2.0]))
