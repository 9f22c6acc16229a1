"""XLA: our operations are not for it on a GPU, so Keras must not choose it by itself."""

from typing import Any

_patched: "set[type]" = set()


def stay_out_of_xla(keras: Any, distributed: type) -> None:
    """compile(jit_compile="auto") means no for models whose optimizer is `distributed`.

    Keras 3 on TensorFlow would choose XLA where there is a GPU.
    """
    model = keras.Model
    plain_resolve = getattr(model, "_resolve_auto_jit_compile", None)
    if plain_resolve is None or model in _patched:
        return
    _patched.add(model)

    def resolve(self: Any) -> Any:
        optimizer = getattr(self, "optimizer", None)
        inner = getattr(optimizer, "inner_optimizer", None)
        if isinstance(optimizer, distributed) or isinstance(inner, distributed):
            return False
        return plain_resolve(self)

    model._resolve_auto_jit_compile = resolve
