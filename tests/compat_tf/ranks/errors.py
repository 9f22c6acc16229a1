"""What goes wrong, and by which of TensorFlow's errors one hears of it."""

import threading
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from signs import leave_sign, wait_for_sign, wait_until

import horovod.tensorflow as hvd
from horovod.tensorflow._library import native

How = Callable[..., Any]
Mismatch = tf.errors.FailedPreconditionError


@pytest.fixture(autouse=True)
def still_works(size: int) -> Any:
    yield
    assert float(hvd.allreduce(tf.constant(1.0), op=hvd.Sum)) == size


def test_types_that_are_not_taken(how: How) -> None:
    for dtype in (tf.complex64, tf.string, tf.int16):
        value = tf.constant(["a"]) if dtype == tf.string else tf.cast([1], dtype)
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError, tf.errors.NotFoundError)):
            how(hvd.allreduce)(value)


def test_shapes_that_differ(how: How, rank: int, size: int) -> None:
    if size == 1:
        return
    with pytest.raises(Mismatch, match="Mismatched ALLREDUCE tensor shapes"):
        how(lambda x: hvd.allreduce(x, name="differ"))(tf.zeros([2 + rank]))
    with pytest.raises(Mismatch, match="Mismatched ALLGATHER tensor shapes"):
        how(lambda x: hvd.allgather(x, name="differ"))(tf.zeros([2, 2 + rank]))
    with pytest.raises(Mismatch, match="Mismatched BROADCAST tensor shapes"):
        how(lambda x: hvd.broadcast(x, 0, name="differ"))(tf.zeros([2 + rank]))


def test_types_that_differ(how: How, rank: int, size: int) -> None:
    if size == 1:
        return
    x = tf.zeros([2], tf.float32 if rank == 0 else tf.float64)
    with pytest.raises(Mismatch, match="Mismatched data types"):
        how(lambda x: hvd.allreduce(x, name="types"))(x)


def test_kinds_that_differ(rank: int, size: int) -> None:
    if size == 1:
        return  # in eager mode a collective's kind is its name, so kinds never meet
    kind = hvd.allgather if rank == 0 else hvd.reducescatter
    with pytest.raises(Mismatch, match="Mismatched operations: One rank did an"):
        tf.function(lambda x: kind(x, name="kinds"))(tf.zeros([2 * size]))


def test_roots_operators_and_factors_that_differ(how: How, rank: int, size: int) -> None:
    if size == 1:
        return
    x = tf.zeros([2])
    with pytest.raises(Mismatch, match="Mismatched BROADCAST root ranks"):
        how(lambda x: hvd.broadcast(x, rank, name="roots"))(x)
    with pytest.raises(Mismatch, match="Mismatched reduction operation"):
        how(lambda x: hvd.allreduce(x, op=hvd.Max if rank else hvd.Min, name="ops"))(x)
    with pytest.raises(Mismatch, match="Mismatched prescale and/or postscale factors"):
        how(lambda x: hvd.allreduce(x, op=hvd.Sum, prescale_factor=1.0 + rank, name="f"))(x)


def test_scalars_have_no_rows(how: How) -> None:
    for collective in (hvd.allgather, hvd.alltoall):
        with pytest.raises((Mismatch, tf.errors.InvalidArgumentError, ValueError)):
            how(collective)(tf.constant(1.0))


def test_roots_and_splits_that_cannot_be(how: How, size: int) -> None:
    invalid = tf.errors.InvalidArgumentError
    with pytest.raises(invalid, match="broadcast received invalid root rank"):
        how(lambda x: hvd.broadcast(x, size))(tf.zeros([2]))
    x = tf.zeros([2 * size])
    with pytest.raises(invalid, match="Sum of splits entries is greater"):
        how(lambda x: hvd.alltoall(x, [3] * size))(x)
    with pytest.raises(invalid, match="does not equal number of workers"):
        how(lambda x: hvd.alltoall(x, [1] * (size + 1)))(x)
    with pytest.raises(invalid, match="expects a 1D splits tensor"):
        how(lambda x: hvd.alltoall(x, [[1] * size]))(x)
    with pytest.raises(invalid, match="32-bit integer elements"):
        how(lambda x: hvd.alltoall(x, np.ones(size, np.int64)))(x)
    if size > 1:
        with pytest.raises(invalid, match="not an even multiple of the number of workers"):
            how(hvd.alltoall)(tf.zeros([2 * size + 1]))


def test_sets_that_are_not_there(how: How) -> None:
    unknown = hvd.ProcessSet([0])
    unknown.process_set_id = 77
    with pytest.raises(tf.errors.InvalidArgumentError, match="Process set provided does not exist"):
        how(lambda x: hvd.allreduce(x, process_set=unknown))(tf.zeros([2]))
    unregistered = hvd.ProcessSet([0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Process set provided does not exist"):
        how(lambda x: hvd.allreduce(x, process_set=unregistered))(tf.zeros([2]))


def test_the_same_name_twice_at_once(rank: int, size: int) -> None:
    if size == 1:
        return
    x = tf.constant([1.0])
    if rank == 0:
        first = threading.Thread(target=lambda: hvd.allreduce(x))
        first.start()
        wait_until(lambda: native.hvdx_tf_in_flight() == 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="same name as another tensor"):
            hvd.allreduce(x)
        leave_sign("refused")
        first.join()
    else:
        wait_for_sign("refused")
        hvd.allreduce(x)


def test_one_failure_among_many(rank: int, size: int) -> None:
    if size == 1:
        return

    @tf.function
    def several(x: tf.Tensor) -> Any:
        good = [hvd.allreduce(x + float(i), name=f"good_{i}") for i in range(20)]
        return good, hvd.allreduce(tf.zeros([2 + rank]), name="bad")

    for _ in range(10):
        with pytest.raises(Mismatch, match="Mismatched ALLREDUCE tensor shapes"):
            several(tf.zeros([3]))


def test_functions_for_xla_inside(size: int) -> None:
    inner = tf.function(lambda x: x * 2.0, jit_compile=True)
    outer = tf.function(lambda x: hvd.allreduce(inner(x), op=hvd.Sum))
    assert float(outer(tf.constant(1.0))) == 2 * size


def test_before_init(how: How) -> None:
    hvd.shutdown()
    try:
        with pytest.raises(Mismatch, match="Horovod has not been initialized"):
            how(hvd.allreduce)(tf.zeros([2]))
        with pytest.raises(Mismatch, match="Horovod has not been initialized"):
            how(hvd.size_op)()
    finally:
        hvd.init()
