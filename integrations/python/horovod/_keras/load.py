"""Models from files, with their optimizer distributed."""

from typing import Any, Callable, Optional, Sequence

from horovod._keras.optimizer import variables_of


def load_model(
    keras: Any,
    wrap: Callable[..., Any],
    filepath: Any,
    custom_optimizers: Optional[Sequence[type]],
    custom_objects: Optional["dict[str, Any]"],
) -> Any:
    """Loads a model; wrap(optimizer, variables) distributes its optimizer, state and all."""
    objects = {optimizer.__name__: optimizer for optimizer in custom_optimizers or ()}
    objects.update(custom_objects or {})
    model = keras.models.load_model(filepath, custom_objects=objects)
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None:
        used = bool(variables_of(optimizer))
        model.optimizer = wrap(optimizer, model.trainable_variables if used else None)
        model.train_function = None  # of the old one
        if getattr(model, "jit_compile", False):
            model.jit_compile = False  # chosen for an optimizer that was not distributed
    return model
