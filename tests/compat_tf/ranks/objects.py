"""Objects and variables from one rank to all, or from all to all; sessions of TensorFlow 1."""

import numpy as np
import pytest
import tensorflow as tf

import horovod.tensorflow as hvd

v1 = tf.compat.v1


def test_objects(rank: int, size: int) -> None:
    thing = {"rank": rank, "text": "ä" * 1000 * rank, "array": np.arange(rank)}
    got = hvd.broadcast_object(thing, size - 1, name="thing")
    assert got["rank"] == size - 1 and len(got["text"]) == 1000 * (size - 1)
    assert (got is thing) == (rank == size - 1)
    assert hvd.broadcast_object(None if rank else [1, 2], name="list") == [1, 2]
    everybodys = hvd.allgather_object(thing)
    assert [each["rank"] for each in everybodys] == list(range(size))


def test_global_variables_need_a_graph() -> None:
    with pytest.raises(RuntimeError, match="does not support eager execution"):
        hvd.broadcast_global_variables(0)


def test_sessions(rank: int, size: int) -> None:
    with tf.Graph().as_default():
        variables = [v1.get_variable(f"v{i}", initializer=float(rank + i)) for i in range(3)]
        bcast = hvd.broadcast_global_variables(size - 1)
        total = hvd.allreduce(tf.constant([1.0 + rank]), op=hvd.Sum)
        send = hvd.broadcast_object_fn(name="fn")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(bcast)
            assert session.run(variables) == [size - 1.0 + i for i in range(3)]
            assert session.run(total) == [sum(range(1, size + 1))]
            for i in range(3):
                assert send({"rank": rank, "i": i} if rank == 0 else None) == {"rank": 0, "i": i}
            assert hvd.broadcast_object([rank], 0, session=session, name="o") == [0]
            assert hvd.allgather_object(rank, session=session) == list(range(size))


def test_hook(rank: int, size: int) -> None:
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        weight = v1.get_variable("w", initializer=float(rank + 5))
        hook = hvd.BroadcastGlobalVariablesHook(size - 1)
        with v1.train.MonitoredTrainingSession(hooks=[hook]) as session:
            assert session.run(weight) == size + 4


def test_util() -> None:
    variables = [tf.Variable(1.0), tf.Variable(2.0)]
    back = hvd.refs_to_vars(hvd.vars_to_refs(variables))
    assert all(a is b for a, b in zip(variables, back))
    assert hvd._executing_eagerly()
    assert not hvd._make_subgraph(lambda: tf.constant(hvd._executing_eagerly()))()
