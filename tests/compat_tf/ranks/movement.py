"""Allgather, broadcast, alltoall: every type, rows that differ, static shapes."""

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from values import MOVED, array, everybodys, same

import horovod.tensorflow as hvd

How = Callable[..., Any]


def _ragged(dtype: tf.DType, extra: int = 1) -> Any:
    return [
        tensors[rank]
        for rank in range(hvd.size())
        for tensors in [everybodys("ragged", dtype, (rank * extra, 3))]
    ]


@pytest.mark.parametrize("dtype", MOVED, ids=lambda t: t.name)
def test_allgather_of_different_rows(how: How, dtype: tf.DType, rank: int) -> None:
    tensors = _ragged(dtype)
    result = how(hvd.allgather)(tensors[rank])
    assert same(result, np.concatenate([array(t) for t in tensors]), dtype)


def test_grouped_allgather(how: How, rank: int) -> None:
    several = [_ragged(tf.int32, extra) for extra in (1, 2, 0)]
    results = how(lambda *ts: hvd.grouped_allgather(list(ts)))(*(ts[rank] for ts in several))
    for result, tensors in zip(results, several):
        assert same(result, np.concatenate([array(t) for t in tensors]), tf.int32)


@pytest.mark.parametrize("dtype", MOVED, ids=lambda t: t.name)
def test_broadcast_from_every_rank(how: How, dtype: tf.DType, rank: int, size: int) -> None:
    for root in range(size):
        for shape in ((), (0, 2), (4, 3)):
            tensors = everybodys("broadcast", dtype, shape)
            result = how(lambda x, root=root: hvd.broadcast(x, root))(tensors[rank])
            assert same(result, array(tensors[root]), dtype)


@pytest.mark.parametrize("dtype", MOVED, ids=lambda t: t.name)
def test_alltoall_in_equal_shares(how: How, dtype: tf.DType, rank: int, size: int) -> None:
    tensors = everybodys("alltoall", dtype, (2 * size, 2))
    result = how(hvd.alltoall)(tensors[rank])
    parts = [array(t)[2 * rank : 2 * rank + 2] for t in tensors]
    assert same(result, np.concatenate(parts), dtype)


def test_alltoall_with_splits(how: How, rank: int, size: int) -> None:
    tensors = everybodys("splits", tf.float32, (sum(range(size)) + 2, 2))
    splits = list(range(size))  # a few rows more than anybody wants
    for given in (splits, tf.constant(splits, tf.int32), np.array(splits, np.int32)):
        output, received = how(lambda x, given=given: hvd.alltoall(x, given))(tensors[rank])
        first = sum(range(rank))
        parts = [array(t)[first : first + rank] for t in tensors]
        assert same(output, np.concatenate(parts), tf.float32)
        assert same(received, [rank] * size, tf.int32)


def test_static_shapes(size: int) -> None:
    seen = {}

    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([6, 2])])
    def f(x: tf.Tensor, y: tf.Tensor) -> Any:
        results = {
            "allreduce": hvd.allreduce(x),
            "broadcast": hvd.broadcast(y, 0),
            "allgather": hvd.allgather(y),
            "reducescatter": hvd.reducescatter(y),
            "alltoall": hvd.alltoall(y),
        }
        seen.update({name: result.shape.as_list() for name, result in results.items()})
        return results

    f(tf.zeros([2, 4]), tf.zeros([6, 2]))
    assert seen == {
        "allreduce": [None, 4],
        "broadcast": [6, 2],
        "allgather": [None, 2],
        "reducescatter": [None, 2],
        "alltoall": [None, 2],
    }


def test_variables_in_place(rank: int, size: int) -> None:
    root = size - 1
    variables = [
        tf.Variable([float(rank)] * 3, name="a"),
        tf.Variable(rank, name="b"),
        tf.Variable(tf.constant([rank, 7], tf.uint32), name="seed"),
        tf.Variable(tf.constant([rank], tf.uint64), name="big"),
        tf.Variable(tf.constant([rank + 1j], tf.complex64), name="complex"),
        tf.Variable(tf.cast([rank], tf.bfloat16), name="half"),
        tf.Variable([bool(rank % 2)], name="flag"),
    ]
    values = hvd.broadcast_(variables[:2], root)
    assert array(values[0]).tolist() == [root] * 3 and array(values[1]) == root
    hvd.broadcast_variables(variables, root)
    assert array(variables[2]).tolist() == [root, 7]
    assert array(variables[3]).tolist() == [root]
    assert variables[4].numpy().tolist() == [root + 1j]
    assert array(variables[5]).tolist() == [root]
    assert variables[6].numpy().tolist() == [bool(root % 2)]
    hvd.broadcast_variables([], root)

    other = tf.Variable([float(rank)], name="other")

    @tf.function
    def in_a_function() -> tf.Tensor:
        hvd.broadcast_variables([other], root)
        return other.read_value()

    assert array(in_a_function()) == [root]
