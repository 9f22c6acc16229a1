"""Allreduce in functions that XLA compiles (jit_compile=True), on the CPU.

A group of tensors is one custom call, which blocks until they are reduced: a step should have one.
Shapes must be known when the function is traced.
"""

import functools
from typing import Any, List, Sequence

import tensorflow as tf
from tensorflow.python.framework import ops as _tf_ops
from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext

from horovod.tensorflow._library import native

_TYPES = {
    tf.uint8: "ui8",
    tf.int8: "i8",
    tf.int32: "i32",
    tf.int64: "i64",
    tf.float16: "f16",
    tf.bfloat16: "bf16",
    tf.float32: "f32",
    tf.float64: "f64",
}


def compiled_by_xla() -> bool:
    """Whether the graph being made is for XLA."""
    return not tf.executing_eagerly() and bool(
        GraphOrParentsInXlaContext(_tf_ops.get_default_graph())
    )


@functools.lru_cache(maxsize=None)
def available() -> bool:
    """Whether this TensorFlow takes custom calls from us (2.19 and later do)."""
    try:
        from tensorflow.compiler.tf2xla.ops import gen_xla_ops  # noqa: F401
    except ImportError:
        return False
    return bool(native.hvdx_tf_register_xla())


def _module(tensors: Sequence[tf.Tensor], attributes: str) -> str:
    """A program of one custom call, in the language that XLA reads."""
    types = [
        "tensor<" + "".join(f"{n}x" for n in t.shape.as_list()) + _TYPES[t.dtype] + ">"
        for t in tensors
    ]
    n = len(tensors)
    parameters = ", ".join(f"%a{i}: {each}" for i, each in enumerate(types))
    arguments = ", ".join(f"%a{i}" for i in range(n))
    results = ", ".join(f"%r#{i}" for i in range(n)) if n > 1 else "%r"
    signature = ", ".join(types)
    return (
        f"module @horovodx {{ func.func public @main({parameters}) -> ({signature}) {{\n"
        f"%r{f':{n}' if n > 1 else ''} = stablehlo.custom_call @horovodx_allreduce({arguments}) "
        f"{{api_version = 4 : i32, has_side_effect = true, backend_config = {{{attributes}}}}} "
        f": ({signature}) -> ({signature})\n"
        f"return {results} : {signature} }} }}"
    )


def grouped_allreduce(
    tensors: Sequence[tf.Tensor],
    name: str,
    op: int,
    prescale_factor: float,
    postscale_factor: float,
    ignore_name_scope: bool,
    process_set_id: int,
) -> List[tf.Tensor]:
    """Reduces tensors; differentiable as the operation outside XLA is."""
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    if not all(t.shape.is_fully_defined() for t in tensors):
        raise NotImplementedError(
            f"{name}: XLA needs shapes that are known when the function is traced, got "
            f"{[str(t.shape) for t in tensors]}."
        )

    for tensor in tensors:
        if tensor.dtype not in _TYPES:
            raise TypeError(f"{name}: tensors of type {tensor.dtype.name} can't be reduced.")

    @tf.custom_gradient
    def reduce(*values: tf.Tensor) -> Any:
        unique = _tf_ops.get_default_graph().unique_name(name, mark_as_used=False)
        known_as = unique.rpartition("/")[2] if ignore_name_scope else unique
        attributes = (
            f'name = "{known_as}", op = {op} : i64, process_set = {process_set_id} : i64, '
            f"prescale = {prescale_factor:e} : f64, postscale = {postscale_factor:e} : f64"
        )
        results = gen_xla_ops.xla_call_module(
            list(values),
            version=9,
            module=_module(values, attributes),
            Sout=[v.shape for v in values],
            Tout=[v.dtype for v in values],
            platforms=["CPU"],
            has_token_input_output=False,
            name=name,
        )

        def gradient(*incoming: tf.Tensor) -> List[tf.Tensor]:
            return grouped_allreduce(
                incoming,
                name + "_gradient",
                op,
                prescale_factor,
                postscale_factor,
                ignore_name_scope,
                process_set_id,
            )

        return list(results), gradient

    return list(reduce(*tensors))
