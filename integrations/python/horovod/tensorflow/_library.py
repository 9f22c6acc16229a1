"""libhorovodx_tf.so: our operations in this TensorFlow.

The library is one for all TensorFlow versions. It leans on one thing that TensorFlow does not
promise: what the callback of an asynchronous kernel looks like (done_callback.h says more). With a
version that nobody has tried, a process of its own tries it first; if that fails, kernels block
until they have finished, which needs no promise and is slower. HVDX_TF_BLOCKING=1 asks for that,
HVDX_TF_BLOCKING=0 says that no trial is needed.
"""

import ctypes
import os
import subprocess
import sys
import warnings
from typing import Any

import tensorflow as tf

from horovod.tensorflow._version import TRIED, parsed
from horovodx.library import library_path

_TRIAL = """
import sys
import tensorflow as tf
library = tf.load_op_library(sys.argv[1])
test = tf.function(lambda: [library.horovod_self_test() for _ in range(8)])
assert all(int(n) == 1 for _ in range(4) for n in test()), "a wrong answer"
"""


def _load() -> Any:
    path = library_path("libhorovodx_tf.so")
    if not os.path.exists(path):
        raise ImportError(
            f"Extension horovod.tensorflow has not been built: {path} not found\n"
            "Installing again with HOROVOD_WITH_TENSORFLOW=1 shows why."
        )
    return tf.load_op_library(path)


def callbacks_can_be_kept(trial: str = _TRIAL, seconds: float = 300) -> bool:
    """Tries the library with this TensorFlow in a process of its own."""
    try:
        result = subprocess.run(
            [sys.executable, "-c", trial, library_path("libhorovodx_tf.so")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return result.returncode == 0


def _must_block() -> bool:
    wish = os.environ.get("HVDX_TF_BLOCKING")
    if wish is not None:
        return wish not in ("", "0")
    if TRIED[0] <= parsed(tf.__version__) <= TRIED[1] or callbacks_can_be_kept():
        return False
    warnings.warn(
        f"TensorFlow {tf.__version__} calls asynchronous kernels in a way unknown to this version "
        "of HorovodX: collectives block until they have finished and do not overlap.",
        RuntimeWarning,
        stacklevel=2,
    )
    return True


operations = _load()
native = ctypes.CDLL(library_path("libhorovodx_tf.so"))
native.hvdx_tf_forwarded.restype = ctypes.c_int64
native.hvdx_tf_callbacks_moved.restype = ctypes.c_int64
native.hvdx_tf_callbacks_kept.restype = ctypes.c_int64

blocking = _must_block()
native.hvdx_tf_set_blocking(int(blocking))
