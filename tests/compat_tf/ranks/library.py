"""The library under the operations: what it needs, and how it keeps TensorFlow's callbacks."""

import os
import subprocess

import pytest
import tensorflow as tf

import horovod.tensorflow as hvd
from horovod.tensorflow import _library
from horovodx.library import library_path


def test_operations_have_horovods_names() -> None:
    for kind in (
        "allreduce grouped_allreduce allgather grouped_allgather broadcast alltoall reducescatter "
        "grouped_reducescatter join size local_size rank local_rank process_set_included"
    ).split():
        assert hasattr(hvd.mpi_ops.MPI_LIB, f"horovod_{kind}"), kind


def test_callbacks_are_moved_to_the_heap() -> None:
    if _library.blocking:
        return
    before = _library.native.hvdx_tf_callbacks_moved(), _library.native.hvdx_tf_callbacks_kept()
    tf.function(lambda: hvd.allreduce(tf.constant(1.0)))()
    hvd.allreduce(tf.constant(1.0))
    assert _library.native.hvdx_tf_callbacks_moved() == before[0] + 2
    assert _library.native.hvdx_tf_callbacks_kept() == before[1]


def test_self_test_here() -> None:
    f = tf.function(lambda: [_library.operations.horovod_self_test() for _ in range(5)])
    assert [int(n) for n in f()] == [1] * 5


def test_an_unknown_version_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HVDX_TF_BLOCKING", raising=False)
    monkeypatch.setattr(_library, "TRIED", ((1, 0), (1, 15)))
    monkeypatch.setattr(_library, "callbacks_can_be_kept", lambda: True)
    assert not _library._must_block()
    monkeypatch.setattr(_library, "callbacks_can_be_kept", lambda: False)
    with pytest.warns(RuntimeWarning, match="do not overlap"):
        assert _library._must_block()


def test_the_trial(one_rank: None) -> None:
    assert _library.callbacks_can_be_kept()
    assert not _library.callbacks_can_be_kept("import os; os.abort()")
    assert not _library.callbacks_can_be_kept("import time; time.sleep(60)", 0.1)


def test_what_the_library_needs() -> None:
    readelf = subprocess.run(
        ["readelf", "-d", library_path("libhorovodx_tf.so")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    needed = {line.split("[")[1].rstrip("]") for line in readelf.splitlines() if "NEEDED" in line}
    ours = {"libhorovodx.so", "libtensorflow_framework.so.2"}
    run_time = ("libstdc++.", "libgcc_s.", "libc.", "libm.", "ld-linux")
    assert ours <= needed and all(name.startswith(run_time) for name in needed - ours)
    assert "$ORIGIN" in readelf
    assert os.path.dirname(library_path()) not in readelf
