"""By what names ranks know each other's collectives."""

from typing import Any, List

import tensorflow as tf
from values import array

import horovod.tensorflow as hvd


def _nodes(f: Any, *args: Any) -> List[str]:
    graph = tf.function(f).get_concrete_function(*args).graph
    return [op.name for op in graph.get_operations() if op.type.startswith("Horovod")]


def test_default_names() -> None:
    x = tf.TensorSpec([6, 2], tf.float32, name="some/tensor")
    normal = "some_tensor_0"
    assert _nodes(hvd.allreduce, x) == [f"HorovodAllreduce_{normal}"]
    assert _nodes(hvd.allgather, x) == [f"HorovodAllgather_{normal}"]
    assert _nodes(lambda x: hvd.broadcast(x, 0), x) == [f"HorovodBroadcast_{normal}"]
    assert _nodes(hvd.alltoall, x) == [f"HorovodAlltoall_{normal}"]
    assert _nodes(hvd.reducescatter, x) == [f"HorovodReducescatter_{normal}"]
    for kind, grouped in (
        ("Allreduce", hvd.grouped_allreduce),
        ("Allgather", hvd.grouped_allgather),
        ("Reducescatter", hvd.grouped_reducescatter),
    ):
        y = tf.TensorSpec([2], name="y")
        nodes = _nodes(lambda x, y, grouped=grouped: grouped([x, y]), x, y)
        assert nodes == [f"HorovodGrouped{kind}_{normal}_y_0"]


def test_given_names_and_scopes() -> None:
    x = tf.TensorSpec([2], tf.float32, name="x")
    assert _nodes(lambda x: hvd.allreduce(x, name="mine"), x) == ["mine"]

    def scoped(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope("outer"):
            return hvd.allreduce(x)

    assert _nodes(scoped, x) == ["outer/HorovodAllreduce_x_0"]
    variable = tf.Variable([1.0], name="weights")
    assert _nodes(lambda: hvd.allreduce(variable)) == ["HorovodAllreduce_weights_0"]


def test_ranks_pair_by_name_and_not_by_order(rank: int, size: int) -> None:
    @tf.function
    def in_any_order(x: tf.Tensor) -> Any:
        results = {}
        order = range(8) if rank % 2 == 0 else reversed(range(8))
        for i in order:
            results[i] = hvd.allreduce(x * float(i), op=hvd.Sum, name=f"number_{i}")
        return [results[i] for i in range(8)]

    assert [float(n) for n in in_any_order(tf.constant(1.0))] == [i * size for i in range(8)]


def test_scopes_that_differ_between_ranks(rank: int, size: int) -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope(f"rank_{rank}"):
            return hvd.allreduce(x, op=hvd.Sum, name="common", ignore_name_scope=True)

    assert float(f(tf.constant(2.0))) == 2 * size


def test_eager_calls_pair_by_order(rank: int, size: int) -> None:
    # Their names do not count, as in Horovod.
    assert float(hvd.allreduce(tf.constant(1.0), op=hvd.Sum, name=f"rank_{rank}")) == size


def test_loops_and_branches(rank: int, size: int) -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(4):
            x = hvd.allreduce(x, op=hvd.Sum)
        return tf.cond(x > 0.0, lambda: hvd.allreduce(x), lambda: x)

    for _ in range(3):
        assert array(f(tf.constant(1.0))) == float(size) ** 4
