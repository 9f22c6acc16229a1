"""DistributedGradientTape: averaged gradients, whatever form they have."""

from typing import Any, Callable, List

import numpy as np
import pytest
import tensorflow as tf
from values import array

import horovod.tensorflow as hvd

How = Callable[..., Any]


def _weights() -> List[tf.Variable]:
    return [
        tf.Variable(tf.ones([3, 2]), name="a"),
        tf.Variable(tf.ones([2]), name="b"),
        tf.Variable(tf.ones([4], tf.float64), name="c"),
        tf.Variable(1.0, name="unused"),
    ]


def _loss(weights: List[tf.Variable], rank: int) -> tf.Tensor:
    a, b, c, _ = weights
    return float(rank + 1) * (
        tf.reduce_sum(a) + 2.0 * tf.reduce_sum(b) + 3.0 * tf.cast(tf.reduce_sum(c), tf.float32)
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"op": hvd.Sum},
        {"gradient_predivide_factor": 4.0},
        {"compression": hvd.Compression.fp16},
        {"groups": 2},
        {"groups": 1},
    ],
    ids=str,
)
def test_gradients(how: How, options: Any, rank: int, size: int) -> None:
    weights = _weights()
    total = sum(range(1, size + 1)) / (1 if options.get("op") == hvd.Sum else size)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = _loss(weights, rank)
        return hvd.DistributedGradientTape(tape, **options).gradient(loss, weights)

    for _ in range(2):
        a, b, c, unused = how(step)()
        assert np.allclose(array(a), total) and np.allclose(array(b), 2 * total)
        assert np.allclose(array(c), 3 * total) and c.dtype == tf.float64
        assert unused is None


def test_groups_of_variables(how: How, rank: int, size: int) -> None:
    weights = _weights()
    groups = [[weights[0], weights[2]]]

    def step() -> Any:
        with hvd.DistributedGradientTape(tf.GradientTape(), groups=groups) as tape:
            loss = _loss(weights, rank)
        return tape.gradient(loss, weights)

    a, b, c, unused = how(step)()
    average = (1 + size) / 2
    assert np.allclose(array(a), average) and np.allclose(array(c), 3 * average)
    assert np.allclose(array(b), 2 * average) and unused is None


@pytest.mark.parametrize("sparse_as_dense", [False, True])
def test_embeddings(how: How, sparse_as_dense: bool, rank: int, size: int) -> None:
    table = tf.Variable(tf.ones([size + 1, 2]))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, [rank, size]))
        distributed = hvd.DistributedGradientTape(tape, sparse_as_dense=sparse_as_dense)
        (gradient,) = distributed.gradient(loss, [table])
        assert isinstance(gradient, tf.IndexedSlices) != sparse_as_dense
        return tf.convert_to_tensor(gradient)

    expected = [[1.0 / size] * 2] * size + [[1.0, 1.0]]
    assert np.allclose(array(how(step)()), expected)


def test_local_sources(how: How, rank: int, size: int) -> None:
    shared, own = tf.Variable(1.0), tf.Variable(1.0)
    for scale in (True, False):

        def step(scale: bool = scale) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                loss = (shared + own) * float(rank + 1)
            tape = hvd.DistributedGradientTape(tape, scale_local_gradients=scale)
            tape.register_local_source(own)
            local, everyones = tape.get_local_and_global_gradients(loss, [shared, own])
            assert local[0][0] is own and everyones[0][0] is shared
            return tape.gradient(loss, [shared, own])

        both = how(step)()
        assert float(both[0]) == (1 + size) / 2
        assert np.isclose(float(both[1]), (rank + 1) / (size if scale else 1))


def test_names_that_do_not_depend_on_the_graph(rank: int, size: int) -> None:
    weights = [tf.Variable(1.0), tf.Variable(2.0)]

    @tf.function
    def step() -> Any:
        extra = tf.constant(0.0)
        for _ in range(rank):  # graphs and names differ between ranks
            extra = extra * 2.0
        with tf.name_scope(f"rank_{rank}"), tf.GradientTape() as tape:
            loss = (weights[0] + weights[1] + extra) * float(rank + 1)
        tape = hvd.DistributedGradientTape(tape)
        return tape.gradient(loss, weights, use_generic_names=True)

    assert [float(g) for g in step()] == [(1 + size) / 2] * 2


def test_the_class_stays() -> None:
    tape = hvd.DistributedGradientTape(tf.GradientTape())
    assert isinstance(tape, tf.GradientTape) and type(tape).__name__ == "GradientTape"
    weight = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = weight * weight
    tape = hvd.DistributedGradientTape(tape)
    assert float(tape.gradient(y, [weight])[0]) == 6.0
    assert float(tape.gradient(y, weight)) == 6.0


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="gradient_predivide_factor not supported"):
        hvd.DistributedGradientTape(
            tf.GradientTape(), op=hvd.Sum, gradient_predivide_factor=2.0
        )
    with pytest.raises(ValueError, match="groups should be"):
        hvd.DistributedGradientTape(tf.GradientTape(), groups=-1)
    with pytest.warns(DeprecationWarning):
        hvd.DistributedGradientTape(tf.GradientTape(), num_groups=2)
    with pytest.raises(ValueError, match="All local layers must be"):
        hvd.PartialDistributedGradientTape(tf.GradientTape(), local_layers=[3])


def test_training_equals_one_process_on_the_joined_batch(how: How, rank: int, size: int) -> None:
    random = np.random.RandomState(1)
    x, y = random.rand(12 * size, 3).astype("f"), random.rand(12 * size, 1).astype("f")

    def train(x: Any, y: Any, distributed: bool) -> Any:
        w = tf.Variable(np.full((3, 1), 0.1, "f"))
        b = tf.Variable([0.2])

        def step(x: Any, y: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2)
            if distributed:
                tape = hvd.DistributedGradientTape(tape)
            for v, g in zip((w, b), tape.gradient(loss, [w, b])):
                v.assign_sub(0.1 * g)

        step = how(step)
        for i in range(4):
            step(x[i::4], y[i::4])
        return np.concatenate([array(w)[:, 0], array(b)])

    # Each rank has its part of every batch of the whole.
    mine = np.concatenate([np.arange(4) + 4 * (rank + size * i) for i in range(3)])
    alone = train(x, y, False)
    assert np.allclose(train(x[mine], y[mine], True), alone, atol=1e-6)
