"""Collectives of a function are under way at the same time: counted, not timed.

Rank 0 starts; the others do when it has everything under way, so nothing can end before.
"""

import threading
from typing import Any, Callable, List

import numpy as np
import pytest
import tensorflow as tf
from signs import leave_sign, wait_for_sign, wait_until

import horovod.tensorflow as hvd
from horovod.tensorflow._library import native

N = 50


def _all_in_flight(name: str, f: Callable[[], Any], n: int) -> Any:
    """Runs f, of whose collectives n must be under way at once on rank 0."""
    if hvd.rank() != 0:
        wait_for_sign(name)
        return f()
    failed: List[BaseException] = []

    def watch() -> None:
        try:
            wait_until(lambda: native.hvdx_tf_in_flight() == n, 20.0)
        except BaseException as error:
            failed.append(error)
        leave_sign(name)

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = f()
    watcher.join()
    assert not failed, f"{native.hvdx_tf_most_in_flight()} of {n} at most"
    return result


@pytest.fixture(autouse=True)
def several(size: int) -> None:
    if size == 1:
        pytest.skip("one rank waits for nobody")


def test_all_gradients_of_a_step(rank: int, size: int) -> None:
    weights = [tf.Variable(tf.fill([4], float(i))) for i in range(N)]

    @tf.function
    def step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(w * x) for w in weights])
        tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)
        return tape.gradient(loss, weights)

    for turn in range(3):
        gradients = _all_in_flight(f"step {turn}", lambda: step(tf.constant(float(rank + 1))), N)
        assert all(np.allclose(g, sum(range(1, size + 1))) for g in gradients)


def test_in_functions_called_by_functions_and_branches(size: int) -> None:
    @tf.function
    def inner(x: tf.Tensor) -> Any:
        return [hvd.allreduce(x * float(i), op=hvd.Sum) for i in range(N)]

    @tf.function
    def outer(x: tf.Tensor) -> Any:
        return tf.cond(x > 0.0, lambda: inner(x), lambda: [x] * N)

    results = _all_in_flight("outer", lambda: outer(tf.constant(1.0)), N)
    assert [float(n) for n in results] == [i * size for i in range(N)]


def test_broadcast_of_variables(rank: int) -> None:
    variables = [tf.Variable([float(rank + i)]) for i in range(N)]
    _all_in_flight("variables", lambda: hvd.broadcast_variables(variables, 0), N)
    assert [float(v.numpy()[0]) for v in variables] == list(range(N))


def test_an_eager_step_is_one_call(rank: int, size: int) -> None:
    weights = [tf.Variable(float(i)) for i in range(N)]
    with tf.GradientTape() as tape:
        loss = tf.add_n([w * w for w in weights])
    before = _callbacks()
    gradients = hvd.DistributedGradientTape(tape, op=hvd.Sum).gradient(loss, weights)
    assert _callbacks() == before + 1
    assert [float(g) for g in gradients] == [2 * i * size for i in range(N)]


def _callbacks() -> int:
    return int(native.hvdx_tf_callbacks_moved() + native.hvdx_tf_callbacks_kept())


def test_results_take_the_memory_of_what_nobody_needs(size: int) -> None:
    @tf.function
    def f(x: tf.Tensor) -> Any:
        return [hvd.allreduce(x * (i + 2.0), op=hvd.Sum) for i in range(10)]

    f(tf.ones([100]))
    native.hvdx_tf_forwarded()
    f(tf.ones([100]))
    assert native.hvdx_tf_forwarded() == 10


def test_nothing_is_computed_in_advance_or_left_out(size: int) -> None:
    @tf.function
    def f() -> tf.Tensor:
        hvd.allreduce(tf.constant([1.0]), name="unused")
        a = hvd.allreduce(tf.constant([1.0]), op=hvd.Sum, name="constant")
        b = hvd.allreduce(tf.constant([1.0]), op=hvd.Sum, name="constant_again")
        return a + b

    f()
    before = _callbacks()
    assert float(f()[0]) == 2 * size
    assert _callbacks() == before + 3
