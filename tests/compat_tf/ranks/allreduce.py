"""Allreduce: types, shapes, operators, factors, compression, slices, groups."""

import functools
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from values import FLOATS, REDUCED, SHAPES, array, everybodys, same

import horovod.tensorflow as hvd

How = Callable[..., Any]


@pytest.mark.parametrize("dtype", REDUCED, ids=lambda t: t.name)
def test_sum_of_every_type_and_shape(how: How, dtype: tf.DType, rank: int) -> None:
    for shape in SHAPES:
        tensors = everybodys("sum", dtype, shape)
        result = how(lambda x: hvd.allreduce(x, op=hvd.Sum))(tensors[rank])
        assert same(result, sum(array(t) for t in tensors), dtype)


@pytest.mark.parametrize("dtype", REDUCED, ids=lambda t: t.name)
def test_average(how: How, dtype: tf.DType, rank: int, size: int) -> None:
    tensors = everybodys("average", dtype, (17,))
    result = how(hvd.allreduce)(tensors[rank])
    total = sum(array(t) for t in tensors)
    if dtype.is_floating:
        assert result.dtype == dtype
        assert np.allclose(array(result), total / size, atol=0.02 if dtype.size == 2 else 1e-6)
    else:
        assert same(result, np.trunc(total * (1 / size)), dtype)


def test_min_max_product(how: How, rank: int) -> None:
    tensors = everybodys("others", tf.float32, (11,))
    arrays = [array(t) for t in tensors]
    for op, numpy_op in ((hvd.Min, np.minimum), (hvd.Max, np.maximum), (hvd.Product, np.multiply)):
        result = how(lambda x, op=op: hvd.allreduce(x, op=op))(tensors[rank])
        assert same(result, functools.reduce(numpy_op, arrays), tf.float32)


def test_factors(how: How, rank: int, size: int) -> None:
    mine = tf.constant([1.0 + rank])
    result = how(lambda x: hvd.allreduce(x, prescale_factor=2.0, postscale_factor=10.0))(mine)
    assert np.allclose(array(result), 20.0 * (1 + size) / 2)
    whole = tf.constant([3 + 2 * rank], tf.int32)
    result = how(lambda x: hvd.allreduce(x, op=hvd.Sum, prescale_factor=0.5))(whole)
    assert same(result, [sum((3 + 2 * r) // 2 for r in range(size))], tf.int32)


def test_old_average(rank: int, size: int) -> None:
    with pytest.warns(DeprecationWarning, match="has been replaced with `op`"):
        result = hvd.allreduce(tf.constant([float(rank)]), average=False)
    assert array(result) == sum(range(size))
    with pytest.raises(ValueError, match="The op parameter supersedes average"):
        hvd.allreduce(tf.constant([1.0]), average=True, op=hvd.Sum)


@pytest.mark.parametrize("compression", [hvd.Compression.fp16, hvd.Compression.bf16])
def test_compression(how: How, compression: Any, rank: int, size: int) -> None:
    for dtype in (*FLOATS, tf.int64):
        tensors = everybodys("compression", dtype, (9,))
        result = how(lambda x: hvd.allreduce(x, op=hvd.Sum, compression=compression))(
            tensors[rank]
        )
        assert same(result, sum(array(t) for t in tensors), dtype)


def test_variables_and_lists(rank: int, size: int) -> None:
    total = sum(range(size))
    assert array(hvd.allreduce(tf.Variable(float(rank)), op=hvd.Sum)) == total
    assert array(hvd.allreduce([rank], op=hvd.Sum)) == [total]
    variable = tf.Variable([float(rank)], name="weights")
    assert array(tf.function(lambda: hvd.allreduce(variable, op=hvd.Sum))()) == [total]


def test_the_input_is_left_alone(rank: int, size: int) -> None:
    kept = tf.constant([float(rank)] * 8)

    @tf.function
    def twice(x: tf.Tensor) -> Any:
        temporary = x + 1.0
        return hvd.allreduce(x, op=hvd.Sum), hvd.allreduce(temporary, op=hvd.Sum), temporary

    first, second, temporary = twice(kept)
    assert np.all(array(kept) == rank)
    assert np.all(array(temporary) == rank + 1)
    assert np.all(array(first) == sum(range(size)))
    assert np.all(array(second) == sum(range(size)) + size)


def test_slices(how: How, rank: int, size: int) -> None:
    def reduce(values: tf.Tensor, indices: tf.Tensor, op: int) -> Any:
        slices = tf.IndexedSlices(values, indices, dense_shape=tf.constant([10, 2]))
        result = hvd.allreduce(slices, op=op)
        return result.values, result.indices, result.dense_shape

    values = tf.fill([rank + 1, 2], float(rank + 1))
    indices = tf.range(rank + 1)
    for op in (hvd.Sum, hvd.Average):
        got, where, shape = how(lambda v, i, op=op: reduce(v, i, op))(values, indices)
        parts = [np.full((r + 1, 2), r + 1.0) / (size if op == hvd.Average else 1)
                 for r in range(size)]
        assert np.allclose(array(got), np.concatenate(parts))
        assert array(where).tolist() == [i for r in range(size) for i in range(r + 1)]
        assert array(shape).tolist() == [10, 2]
    slices = tf.IndexedSlices(values, indices)
    for op in (hvd.Min, hvd.Adasum):
        with pytest.raises(NotImplementedError):
            hvd.allreduce(slices, op=op)
    with pytest.raises(NotImplementedError, match="not supported with tf.IndexedSlices"):
        hvd.allreduce(slices, prescale_factor=2.0)


def test_groups(how: How, rank: int, size: int) -> None:
    everyones = [everybodys(f"group {i}", tf.float32, (3, i)) for i in range(4)]
    mine = [tensors[rank] for tensors in everyones]
    results = how(lambda *ts: hvd.grouped_allreduce(list(ts), op=hvd.Sum))(*mine)
    for result, tensors in zip(results, everyones):
        assert same(result, sum(array(t) for t in tensors), tf.float32)
    assert hvd.grouped_allreduce([]) == []


def test_groups_with_slices_between(rank: int, size: int) -> None:
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([rank]), tf.constant([size, 2]))
    other = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([rank]), tf.constant([size, 3]))
    first, second, third, fourth = hvd.grouped_allreduce(
        [tf.constant([1.0]), slices, tf.constant([2.0]), other], op=hvd.Sum
    )
    assert array(first) == size and array(third) == 2 * size
    assert array(second.dense_shape).tolist() == [size, 2]
    assert array(fourth.dense_shape).tolist() == [size, 3]


def test_adasum(how: How, rank: int, size: int) -> None:
    if size & (size - 1):
        with pytest.raises(NotImplementedError, match="non-power of 2 ranks"):
            hvd.allreduce(tf.constant([1.0, 1.0]), op=hvd.Adasum)
        return
    mine = tf.constant([[1.0, 1.0], [1.0, 0.0]][rank])
    result = how(lambda x: hvd.allreduce(x, op=hvd.Adasum))(mine)
    assert np.allclose(array(result), [1.25, 0.75] if size == 2 else [1.0, 1.0])


def test_raw_ops_default_to_sum(how: How, size: int) -> None:
    assert array(how(hvd._allreduce)(tf.constant(1.0))) == size
    first, second = how(lambda x: hvd._grouped_allreduce([x, x]))(tf.constant(2.0))
    assert array(first) == array(second) == 2 * size
