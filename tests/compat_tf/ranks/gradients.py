"""What each operation sends back, eagerly and in graphs."""

from typing import Any, Callable

import numpy as np
import tensorflow as tf
from values import array, rows_of

import horovod.tensorflow as hvd

How = Callable[..., Any]


def _gradient(how: How, f: Callable[[tf.Tensor], Any], x: Any) -> np.ndarray:
    def both(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return array(how(both)(tf.constant(x)))


def test_allreduce(how: How, rank: int, size: int) -> None:
    # The sum over ranks of what comes back, by the same reduction.
    weight = float(rank + 1)
    total = sum(r + 1.0 for r in range(size))
    for op, expected in ((hvd.Sum, total), (hvd.Average, total / size)):
        got = _gradient(how, lambda x, op=op: hvd.allreduce(x, op=op) * weight, [1.0, 2.0])
        assert np.allclose(got, expected)
    factors = {"prescale_factor": 2.0, "postscale_factor": 3.0}
    got = _gradient(how, lambda x: hvd.allreduce(x, op=hvd.Sum, **factors), [1.0])
    assert np.allclose(got, 6.0 * size)


def test_grouped_allreduce(how: How, size: int) -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        a, b, unused = hvd.grouped_allreduce([x, 3.0 * x, x], op=hvd.Sum)
        return a + b

    assert np.allclose(_gradient(how, f, [1.0, 2.0]), 4.0 * size)


def test_allgather(how: How, rank: int, size: int) -> None:
    # Averaged over ranks, then this rank's rows.
    x = np.ones((rank + 1, 2), np.float32)
    rows = sum(r + 1 for r in range(size))
    weights = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    first = sum(r + 1 for r in range(rank))
    expected = weights[first : first + rank + 1]

    assert np.allclose(_gradient(how, lambda x: hvd.allgather(x) * weights, x), expected)
    got = _gradient(how, lambda x: hvd.grouped_allgather([x, x])[1] * weights, x)
    assert np.allclose(got, expected)


def test_broadcast(how: How, rank: int, size: int) -> None:
    root = size - 1
    got = _gradient(how, lambda x: hvd.broadcast(x, root) * float(rank + 1), [1.0, 1.0])
    assert np.allclose(got, (1 + size) / 2 if rank == root else 0.0)


def test_alltoall(how: How, rank: int, size: int) -> None:
    x = np.ones((sum(range(size)), 2), np.float32)
    got = _gradient(how, lambda x: hvd.alltoall(x, list(range(size)))[0] * float(rank + 1), x)
    assert np.allclose(got[:, 0], [r + 1.0 for r in range(size) for _ in range(r)])
    got = _gradient(how, lambda x: hvd.alltoall(x) * float(rank + 1),
                    np.ones((size, 1), np.float32))
    assert np.allclose(got[:, 0], [r + 1.0 for r in range(size)])


def test_reducescatter(how: How, rank: int, size: int) -> None:
    x = np.ones((5, 2), np.float32)
    parts = [np.full(len(range(5)[rows_of(r, 5, size)]), r + 1.0) for r in range(size)]
    by_rank = np.concatenate(parts)
    for op, factor in ((hvd.Average, 1.0), (hvd.Sum, float(size))):
        got = _gradient(how, lambda x, op=op: hvd.reducescatter(x, op=op) * float(rank + 1), x)
        assert np.allclose(got[:, 0], factor * by_rank)
        got = _gradient(
            how,
            lambda x, op=op: hvd.grouped_reducescatter([x, x], op=op)[0] * float(rank + 1),
            x,
        )
        assert np.allclose(got[:, 0], factor * by_rank)
    got = _gradient(
        how, lambda x: hvd.reducescatter(x, prescale_factor=2.0, postscale_factor=5.0), x
    )
    assert np.allclose(got, 10.0)


def test_variables(how: How, size: int) -> None:
    variable = tf.Variable([2.0, 3.0])

    def f() -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(hvd.allreduce(variable * variable, op=hvd.Sum))
        return tape.gradient(y, variable)

    assert np.allclose(array(how(f)()), [4.0 * size, 6.0 * size])
