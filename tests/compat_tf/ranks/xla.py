"""Functions that XLA compiles, on the CPU: what works in them, and what one hears of the rest."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from values import REDUCED, array, everybodys, same

import horovod.tensorflow as hvd
from horovod.tensorflow import _xla
from horovod.tensorflow._library import native
from horovod.tensorflow.gradient_aggregation_eager import LocalGradientAggregationHelperEager

compiles = pytest.mark.skipif(
    not _xla.available(), reason="this TensorFlow does not take custom calls"
)


def _compiled(f: Any) -> Any:
    return tf.function(f, jit_compile=True, autograph=False)


@compiles
def test_every_type(rank: int) -> None:
    for dtype in REDUCED:
        for shape in ((), (3, 2)):
            tensors = everybodys("xla", dtype, shape)
            result = _compiled(lambda x: hvd.allreduce(x, op=hvd.Sum) + tf.zeros_like(x))(
                tensors[rank]
            )
            assert same(result, sum(array(t) for t in tensors), dtype)


@compiles
def test_average_factors_and_groups(rank: int, size: int) -> None:
    def f(x: tf.Tensor) -> Any:
        a, b = hvd.grouped_allreduce([x, 2.0 * x])
        return a, b, hvd.allreduce(x, prescale_factor=2.0, postscale_factor=10.0)

    for _ in range(3):
        a, b, c = _compiled(f)(tf.constant([1.0 + rank]))
        mean = (1 + size) / 2
        assert np.allclose([array(a), array(b), array(c)], [[mean], [2 * mean], [20 * mean]])


@compiles
def test_a_step_is_one_call(rank: int, size: int) -> None:
    weights = [tf.Variable(tf.ones([3]) * i) for i in range(20)]

    @tf.function(jit_compile=True)
    def step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(w * w * x) for w in weights])
        return hvd.DistributedGradientTape(tape, op=hvd.Sum).gradient(loss, weights)

    native.hvdx_tf_most_in_flight()
    gradients = step(tf.constant(float(rank + 1)))
    total = sum(range(1, size + 1))
    assert all(np.allclose(g, 2 * i * total) for i, g in enumerate(gradients))
    assert native.hvdx_tf_most_in_flight() == (1 if size > 1 else 0)


@compiles
def test_gradients(rank: int, size: int) -> None:
    @tf.function(jit_compile=True)
    def f(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = hvd.allreduce(x * x, op=hvd.Sum) * float(rank + 1)
        return tape.gradient(y, x)

    assert np.allclose(array(f(tf.constant([3.0]))), 6.0 * sum(range(1, size + 1)))


@compiles
def test_compression(size: int) -> None:
    f = _compiled(lambda x: hvd.allreduce(x, compression=hvd.Compression.fp16, op=hvd.Sum))
    assert float(f(tf.constant(2.0))) == 2 * size


@compiles
def test_gradients_of_several_passes(size: int) -> None:
    weight = tf.Variable([1.0, 2.0])
    reduce = hvd._make_allreduce_grads_fn("xla", op=hvd.Sum)
    helper = LocalGradientAggregationHelperEager(2, reduce, False, False)

    @tf.function(jit_compile=True, autograph=False)
    def passes(x: tf.Tensor) -> Any:
        return helper.compute_gradients([weight * x], [weight])[0]

    for _ in range(2):
        assert np.allclose(passes(tf.constant(1.0)), [1.0, 2.0])
        assert np.allclose(passes(tf.constant(2.0)), [3.0 * size, 6.0 * size])


def test_facts(rank: int, size: int) -> None:
    def facts() -> Any:
        asked = [hvd.rank_op(), hvd.size_op(), hvd.local_rank_op(), hvd.local_size_op()]
        return [*asked, hvd.process_set_included_op(), hvd.process_set_included_op(77)]

    outside = [int(fact) for fact in facts()]
    assert [int(fact) for fact in _compiled(facts)()] == outside
    here = [hvd.local_rank(), hvd.local_size()]
    assert outside[:5] == [rank, size, *here, 1] and outside[5] < 0


def test_facts_that_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOROVOD_ELASTIC", "1")
    with pytest.raises(NotImplementedError, match="HorovodSize can't be compiled by XLA"):
        _compiled(hvd.size_op)()


def test_the_others_say_what_to_do(size: int) -> None:
    x, variable = tf.zeros([2 * size]), tf.Variable([1.0])
    others = {
        "HorovodAllgather": lambda: hvd.allgather(x),
        "HorovodGroupedAllgather": lambda: hvd.grouped_allgather([x, x]),
        "HorovodBroadcast": lambda: hvd.broadcast(x, 0),
        "HorovodAlltoall": lambda: hvd.alltoall(x),
        "HorovodReducescatter": lambda: hvd.reducescatter(x),
        "HorovodGroupedReducescatter": lambda: hvd.grouped_reducescatter([x, x]),
        "HorovodJoin": hvd.join,
    }
    others["HorovodBroadcast "] = lambda: hvd.broadcast_variables([variable], 0)
    if not _xla.available():
        others["HorovodAllreduce"] = lambda: hvd.allreduce(x)
        others["HorovodGroupedAllreduce"] = lambda: hvd.grouped_allreduce([x, x])
    for kind, call in others.items():
        says = f"{kind.strip()} can't be compiled by XLA here. Give jit_compile=False"
        with pytest.raises(NotImplementedError, match=says):
            _compiled(call)()
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([4, 2]))
    with pytest.raises(NotImplementedError, match="sparse_as_dense=True"):
        _compiled(lambda: hvd.allreduce(slices))()


@compiles
def test_failures(rank: int, size: int) -> None:
    if size > 1:
        f = _compiled(lambda x: hvd.allreduce(x, name="differ") + 1.0)
        with pytest.raises(tf.errors.OpError, match="Mismatched ALLREDUCE tensor shapes"):
            f(tf.zeros([2 + rank]))
    unknown = tf.function(
        hvd.allreduce, jit_compile=True, input_signature=[tf.TensorSpec([None])]
    )
    with pytest.raises(NotImplementedError, match="known when the function is traced"):
        unknown(tf.zeros([2]))
    with pytest.raises((TypeError, NotImplementedError), match="int16"):
        _compiled(hvd.allreduce)(tf.zeros([2], tf.int16))
    assert float(hvd.allreduce(tf.constant(1.0), op=hvd.Sum)) == size
