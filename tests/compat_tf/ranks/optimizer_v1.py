"""DistributedOptimizer in front of the optimizers of tf.compat.v1."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import horovod.tensorflow as hvd

v1 = tf.compat.v1


def _train(make: Any, rank: int, steps: int = 3, **options: Any) -> Any:
    """Weights after some steps of gradient (rank + 1) and 2 (rank + 1)."""
    with tf.Graph().as_default():
        step = v1.train.get_or_create_global_step()
        w = v1.get_variable("w", initializer=[1.0, 1.0], use_resource=True)
        u = v1.get_variable("u", initializer=1.0, use_resource=True)
        loss = float(rank + 1) * (tf.reduce_sum(w) + 2.0 * u)
        optimizer = hvd.DistributedOptimizer(make(), **options)
        train = optimizer.minimize(loss, global_step=step)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(steps):
                session.run(train)
            return session.run([w, u, step])


def test_average_sum_and_groups(rank: int, size: int) -> None:
    mean = (1 + size) / 2
    sgd = lambda: v1.train.GradientDescentOptimizer(0.1)  # noqa: E731
    for options, factor in (
        ({}, mean),
        ({"op": hvd.Sum}, mean * size),
        ({"groups": 1}, mean),
        ({"compression": hvd.Compression.bf16}, mean),
        ({"gradient_predivide_factor": 2.0}, mean),
    ):
        w, u, step = _train(sgd, rank, **options)
        assert np.allclose(w, 1 - 0.3 * factor, atol=1e-2 if "compression" in options else 1e-6)
        assert np.allclose(u, 1 - 0.6 * factor, atol=1e-2 if "compression" in options else 1e-6)
        assert step == 3


def test_aggregation(rank: int, size: int) -> None:
    mean = (1 + size) / 2
    sgd = lambda: v1.train.GradientDescentOptimizer(0.1)  # noqa: E731
    w, u, step = _train(sgd, rank, steps=5, backward_passes_per_step=2)
    assert np.allclose(w, 1 - 0.1 * 4 * mean) and np.allclose(u, 1 - 0.1 * 8 * mean)
    assert step == 5
    w, u, step = _train(
        sgd, rank, steps=4, backward_passes_per_step=4, average_aggregated_gradients=True
    )
    assert np.allclose(w, 1 - 0.1 * mean) and np.allclose(u, 1 - 0.1 * 2 * mean)


def test_delegation(rank: int) -> None:
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0)
        optimizer = hvd.DistributedOptimizer(v1.train.MomentumOptimizer(0.1, 0.9))
        assert isinstance(optimizer, v1.train.Optimizer)
        optimizer.minimize(w * 2.0)
        assert optimizer.get_slot_names() == ["momentum"]
        assert optimizer.get_slot(w, "momentum") is not None
        assert len(optimizer.variables()) == 1


def test_local_variables(rank: int, size: int) -> None:
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0)
        own = v1.get_variable("own", initializer=1.0)
        optimizer = hvd.DistributedOptimizer(v1.train.GradientDescentOptimizer(1.0))
        optimizer.register_local_var(own)
        gradients = [g for g, _ in optimizer.compute_gradients((w + own) * float(rank + 1))]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            both = session.run(gradients)
        assert np.allclose(both, [(1 + size) / 2, (rank + 1) / size])


def test_adasum(rank: int, size: int) -> None:
    if size & (size - 1):
        return
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=[1.0, 1.0], use_resource=True)
        # Rank 0 pulls at both, rank 1 at the first alone.
        loss = tf.reduce_sum(w) if rank == 0 else w[0]
        optimizer = hvd.DistributedOptimizer(
            v1.train.GradientDescentOptimizer(1.0), op=hvd.Adasum
        )
        train = optimizer.minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(train)
            change = np.array([1.25, 0.75]) if size == 2 else np.array([1.0, 1.0])
            assert np.allclose(session.run(w), 1 - change)
            session.run(train)
            assert np.allclose(session.run(w), 1 - 2 * change)


def test_eager_minimize(rank: int, size: int) -> None:
    weight = tf.Variable(1.0)
    optimizer = hvd.DistributedOptimizer(v1.train.GradientDescentOptimizer(0.1))
    optimizer.minimize(lambda: weight * float(rank + 1))
    assert np.isclose(float(weight), 1 - 0.1 * (1 + size) / 2)
    with pytest.raises(ValueError, match="eager"):
        hvd.DistributedOptimizer(
            v1.train.GradientDescentOptimizer(0.1), backward_passes_per_step=2
        )


def test_mistakes() -> None:
    sgd = v1.train.GradientDescentOptimizer(0.1)
    for wrong in (
        {"op": hvd.Sum, "gradient_predivide_factor": 2.0},
        {"backward_passes_per_step": 0},
        {"groups": 0},
        {"op": hvd.Adasum, "average_aggregated_gradients": True},
    ):
        with pytest.raises(ValueError):
            hvd.DistributedOptimizer(sgd, **wrong)
