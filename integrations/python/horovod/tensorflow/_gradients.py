"""What each operation sends back when a gradient comes."""

from typing import Any, List, Tuple

import tensorflow as tf

from horovod.common.process_sets import ProcessSet
from horovod.tensorflow._basics import Average, Sum, _basics
from horovod.tensorflow._facts import rank_op, size_op
from horovod.tensorflow._raw_ops import _allreduce, _alltoall, allgather


class _SetOfNumber(ProcessSet):
    """A process set of which the number alone is known: what an operation remembers."""

    def __init__(self, number: int) -> None:
        super().__init__([])
        self.process_set_id = number


def _set_of(op: tf.Operation) -> ProcessSet:
    return _SetOfNumber(op.get_attr("process_set_id"))


def _reduced_the_same_way(op: tf.Operation, gradient: tf.Tensor) -> tf.Tensor:
    return _allreduce(
        gradient,
        op=op.get_attr("reduce_op"),
        prescale_factor=op.get_attr("prescale_factor"),
        postscale_factor=op.get_attr("postscale_factor"),
        ignore_name_scope=op.get_attr("ignore_name_scope"),
        process_set=_set_of(op),
    )


@tf.RegisterGradient("HorovodAllreduce")
def _allreduce_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return _reduced_the_same_way(op, grad)


@tf.RegisterGradient("HorovodGroupedAllreduce")
def _grouped_allreduce_grad(op: tf.Operation, *grads: tf.Tensor) -> List[tf.Tensor]:
    # One by one: TensorFlow may give zeros of another type for results that nobody used.
    return [_reduced_the_same_way(op, grad) for grad in grads]


def _my_rows(op: tf.Operation, tensor: tf.Tensor, gradient: tf.Tensor) -> tf.Tensor:
    """Of the averaged gradient of a gathered tensor."""
    process_set = _set_of(op)
    mine = tf.shape(tensor)[:1]
    rows = allgather(mine, process_set=process_set)
    averaged = _allreduce(gradient, op=Average, process_set=process_set)
    me = _basics._process_set_rank(op.get_attr("process_set_id"))
    begin = tf.reduce_sum(rows[:me])
    return averaged[begin : begin + mine[0]]


@tf.RegisterGradient("HorovodAllgather")
def _allgather_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return _my_rows(op, op.inputs[0], grad)


@tf.RegisterGradient("HorovodGroupedAllgather")
def _grouped_allgather_grad(op: tf.Operation, *grads: tf.Tensor) -> List[tf.Tensor]:
    return [_my_rows(op, tensor, grad) for tensor, grad in zip(op.inputs, grads)]


@tf.RegisterGradient("HorovodBroadcast")
def _broadcast_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    averaged = _allreduce(grad, op=Average, process_set=_set_of(op))
    # The same graph on every rank: names in it depend on what was there before.
    at_root = tf.equal(rank_op(), op.get_attr("root_rank"))
    return averaged * tf.cast(at_root, averaged.dtype)


@tf.RegisterGradient("HorovodAlltoall")
def _alltoall_grad(
    op: tf.Operation, grad_wrt_output: tf.Tensor, grad_wrt_received_splits: Any
) -> Tuple[tf.Tensor, None]:
    gradient, _ = _alltoall(
        grad_wrt_output, op.outputs[1], None, op.get_attr("ignore_name_scope"), _set_of(op)
    )
    return gradient, None


def _spread(op: tf.Operation, gradient: tf.Tensor) -> tf.Tensor:
    """The gradient of a tensor that was reduced and scattered."""
    if op.get_attr("reduce_op") == Sum:
        members = size_op(op.get_attr("process_set_id"))
        gradient *= tf.cast(members, gradient.dtype)
    for factor in (op.get_attr("prescale_factor"), op.get_attr("postscale_factor")):
        if factor != 1.0:
            gradient *= tf.cast(factor, gradient.dtype)
    return allgather(
        gradient, ignore_name_scope=op.get_attr("ignore_name_scope"), process_set=_set_of(op)
    )


@tf.RegisterGradient("HorovodReducescatter")
def _reducescatter_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return _spread(op, grad)


@tf.RegisterGradient("HorovodGroupedReducescatter")
def _grouped_reducescatter_grad(op: tf.Operation, *grads: tf.Tensor) -> List[tf.Tensor]:
    return [_spread(op, grad) for grad in grads]


for _kind in (
    "Join",
    "Size",
    "LocalSize",
    "Rank",
    "LocalRank",
    "ProcessSetIncluded",
    "SelfTest",
):
    tf.no_gradient("Horovod" + _kind)
