"""PyTorch and TensorFlow in one process have one engine, whichever is imported first."""

import sys

import pytest
import rank_jobs

PROGRAM = """
import os
import threading
import pytest
from horovod.common.exceptions import HorovodInternalError
{imports}
hvd_tf.init()
assert hvd_torch.is_initialized() and hvd_torch.rank() == hvd_tf.rank()
size = hvd_tf.size()
for i in range(3):
    assert float(hvd_torch.allreduce(torch.tensor([1.0 + i]), op=hvd_torch.Sum)) == size * (1 + i)
    assert float(hvd_tf.allreduce(tf.constant(1.0 + i), op=hvd_tf.Sum)) == size * (1 + i)

# Both at once.
f = tf.function(lambda x: [hvd_tf.allreduce(x * float(i), op=hvd_tf.Sum) for i in range(20)])
results = []
thread = threading.Thread(target=lambda: results.extend(f(tf.constant(1.0))))
thread.start()
handles = [hvd_torch.allreduce_async(torch.tensor([float(i)]), op=hvd_torch.Sum) for i in range(20)]
for i, handle in enumerate(handles):
    assert float(hvd_torch.synchronize(handle)) == size * i
thread.join()
assert [float(r) for r in results] == [size * i for i in range(20)]
hvd_torch.shutdown()
assert not hvd_tf.is_initialized()

# Both hear of a rank that goes without a word.
hvd_tf.init()
f(tf.constant(1.0))
if hvd_tf.rank() == 1:
    os._exit(0)
with pytest.raises(tf.errors.UnknownError, match="Horovod has been shut down.*rank 1"):
    while True:
        f(tf.constant(1.0))
with pytest.raises(tf.errors.UnknownError, match="Horovod has been shut down"):
    hvd_tf.allreduce(tf.constant(1.0))
with pytest.raises(HorovodInternalError, match="Horovod has been shut down"):
    hvd_torch.allreduce(torch.ones(1))
print("both heard of it")
"""
TORCH = "import torch\nimport horovod.torch as hvd_torch"
TENSORFLOW = "import tensorflow as tf\nimport horovod.tensorflow as hvd_tf"


@pytest.mark.parametrize("first, second", [(TORCH, TENSORFLOW), (TENSORFLOW, TORCH)],
                         ids=["torch-first", "tensorflow-first"])  # fmt: skip
def test_one_engine(first: str, second: str) -> None:
    program = PROGRAM.replace("{imports}", f"{first}\n{second}")
    code, output = rank_jobs.run(2, [sys.executable, "-c", program], 240.0)
    print(output)
    assert code == 0 and "both heard of it" in output
