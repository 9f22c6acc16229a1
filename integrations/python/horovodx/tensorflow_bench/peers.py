"""A process of the benchmark: a rank of HorovodX, or a worker of tf.distribute.

It is started by processes.py, which tells it on its standard input what to run; it answers in one
line of JSON each.
"""

import argparse
import json
import sys
import time
from typing import Any, Callable, Dict, List, TextIO

from horovodx.tensorflow_bench.training_step import TrainingStep

Steps = Dict[str, Callable[[], Any]]


def _scales(rank: int, size: int) -> Dict[str, float]:
    return {"scale": rank + 1.0, "mean_scale": (size + 1) / 2}


def _horovodx(products: int) -> Any:
    import horovod.tensorflow as hvd
    from horovod.tensorflow._reduce_gradients import _make_allreduce_grads_fn

    hvd.init()
    training = TrainingStep(**_scales(hvd.rank(), hvd.size()), products=products)
    reduce = _make_allreduce_grads_fn("DistributedGradientTape")  # what the tape calls
    ways: Steps = {
        "without": training.function(lambda gradients: gradients),
        "with": training.function(lambda gradients: reduce(gradients, training.weights)),
    }
    return training, ways


def _tf_distribute(products: int, rank: int, size: int, pack_bytes: int) -> Any:
    import tensorflow as tf

    options = tf.distribute.experimental.CommunicationOptions(
        bytes_per_pack=pack_bytes,  # 0, the default: all gradients in one
        implementation=tf.distribute.experimental.CommunicationImplementation.RING,
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    training = TrainingStep(**_scales(rank, size), products=products)

    def reduce(gradients: List[Any]) -> Any:
        context = tf.distribute.get_replica_context()
        return context.all_reduce(tf.distribute.ReduceOp.MEAN, gradients, options)

    def wrapped(way: Callable[[], Any]) -> Callable[[], Any]:
        return tf.function(lambda: strategy.run(way), autograph=False)

    ways: Steps = {
        "without": wrapped(training.function(lambda gradients: gradients)),
        "with": wrapped(training.function(reduce)),
    }
    return training, ways


def _serve(training: TrainingStep, ways: Steps, answers: TextIO) -> None:
    """Runs blocks of steps until there is no more to read."""
    for line in sys.stdin:
        order = json.loads(line)
        way, steps = ways[order["way"]], int(order["steps"])
        training.reset()
        start = time.perf_counter()
        for _ in range(steps):
            way()
        seconds = (time.perf_counter() - start) / steps
        training.check(steps, order["way"] == "with")
        answers.write(json.dumps({"seconds": seconds}) + "\n")
        answers.flush()


def main() -> None:
    """The process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=["horovodx", "tf.distribute"])
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--products", type=int, required=True)
    parser.add_argument("--pack-bytes", type=int, default=0)
    options = parser.parse_args()

    import tensorflow as tf

    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    # What libraries print must not be taken for an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    if options.peer == "horovodx":
        training, ways = _horovodx(options.products)
    else:
        training, ways = _tf_distribute(
            options.products, options.rank, options.size, options.pack_bytes
        )
    _serve(training, ways, answers)


if __name__ == "__main__":
    main()
