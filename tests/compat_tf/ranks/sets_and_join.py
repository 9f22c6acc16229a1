"""Process sets, join, and the facts of the job as operations."""

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from values import array

import horovod.tensorflow as hvd
from horovod.tensorflow import _xla

How = Callable[..., Any]


def test_facts(how: How, rank: int, size: int) -> None:
    for op, value in (
        (hvd.size_op, size),
        (hvd.rank_op, rank),
        (hvd.local_size_op, hvd.local_size()),
        (hvd.local_rank_op, hvd.local_rank()),
        (hvd.process_set_included_op, 1),
    ):
        answer = how(op)()
        assert answer.dtype == tf.int32 and answer.shape == () and int(answer) == value
    assert int(how(lambda: hvd.process_set_included_op(99))()) == -3
    assert hvd.is_homogeneous() and hvd.gloo_built() and type(hvd.mpi_built()) is bool


@pytest.fixture
def dynamic(monkeypatch: pytest.MonkeyPatch) -> Any:
    hvd.shutdown()
    hvd.init(process_sets="dynamic")
    yield
    hvd.shutdown()
    monkeypatch.delenv("HOROVOD_DYNAMIC_PROCESS_SETS", raising=False)
    hvd.init()


def test_sets(dynamic: None, how: How, rank: int, size: int) -> None:
    if size == 1:
        return
    last = hvd.add_process_set(range(1, size))
    alone = hvd.add_process_set([0])
    mine = alone if rank == 0 else last
    members = 1 if rank == 0 else size - 1
    total = 0 if rank == 0 else sum(range(1, size))
    x = tf.constant([float(rank)])
    assert int(how(lambda: hvd.size_op(mine.process_set_id))()) == members
    assert int(how(lambda: hvd.process_set_included_op(last.process_set_id))()) == int(rank > 0)
    assert array(how(lambda x: hvd.allreduce(x, op=hvd.Sum, process_set=mine))(x)) == [total]
    if _xla.available():
        compiled = tf.function(
            lambda x: hvd.allreduce(x, op=hvd.Sum, process_set=mine) + 0.0, jit_compile=True
        )
        assert array(compiled(x)) == [total]
    assert len(how(lambda x: hvd.allgather(x, process_set=mine))(x)) == members
    assert array(how(lambda x: hvd.broadcast(x, mine.ranks[-1], process_set=mine))(x)) == [
        mine.ranks[-1]
    ]
    rows = tf.reshape(tf.range(2 * members, dtype=tf.float32), [2 * members])
    assert len(how(lambda x: hvd.reducescatter(x, process_set=mine))(rows)) == 2
    assert len(how(lambda x: hvd.alltoall(x, process_set=mine))(rows)) == 2 * members
    other = last if rank == 0 else alone
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not a member"):
        how(lambda x: hvd.allreduce(x, process_set=other))(x)
    assert hvd.broadcast_object(rank, mine.ranks[0], process_set=mine) == mine.ranks[0]
    assert hvd.allgather_object(rank, process_set=mine) == mine.ranks

    def gradient(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = hvd.allgather(x, process_set=mine)
        return tape.gradient(y, x)

    assert array(how(gradient)(x)) == [1.0]
    with pytest.raises(NotImplementedError, match="non-global process sets"):
        hvd.allreduce(x, op=hvd.Adasum, process_set=mine)
    hvd.remove_process_set(last)
    hvd.remove_process_set(alone)


def test_tape_in_a_set(dynamic: None, how: How, rank: int, size: int) -> None:
    if size < 3:
        return
    pair = hvd.add_process_set([0, 1])
    weight = tf.Variable(1.0)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = weight * float(rank + 1)
        return hvd.DistributedGradientTape(tape, process_set=pair).gradient(loss, [weight])

    assert float(how(step)()[0]) == (1.5 if rank < 2 else rank + 1)
    hvd.remove_process_set(pair)


def test_join(how: How, rank: int, size: int) -> None:
    for i in range(rank):
        result = how(lambda x: hvd.allreduce(x, op=hvd.Sum, name="uneven"))(tf.constant([1.0]))
        assert array(result) == [size - 1 - i]
    last = int(how(hvd.join)())
    assert last == size - 1 or size == 1
    assert len(set(hvd.allgather_object(last))) == 1
    assert np.allclose(array(hvd.allreduce(tf.constant(2.0))), 2.0)
