"""A model, and data of which a rank has a part: together the parts are what one process has."""

import os
from typing import Any, List, Tuple

import numpy as np

WHICH = os.environ.get("HVDX_KERAS", "tensorflow")
if WHICH == "legacy":
    import tensorflow as tf

    import horovod.tensorflow.keras as hvd

    keras: Any = tf.keras
else:
    import keras  # type: ignore[no-redef]

    import horovod.keras as hvd  # type: ignore[no-redef]

BATCH, STEPS, EPOCHS = 4, 3, 2
_random = np.random.RandomState(7)
_x = _random.rand(BATCH * STEPS * 8, 3).astype("float32")
_y = (_x.sum(1, keepdims=True) + 0.1 * _random.rand(len(_x), 1)).astype("float32")


def model(layers: Any = None) -> Any:
    """The same on every rank and every time."""
    keras.utils.set_random_seed(3)
    made = keras.Sequential(
        [keras.layers.Input((3,))]
        + (layers or [keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(1)])
    )
    return made


def whole() -> Tuple[Any, Any]:
    """Batches of BATCH * size."""
    n = BATCH * STEPS * hvd.size()
    return _x[:n], _y[:n]


def part() -> Tuple[Any, Any]:
    """This rank's share of every batch of the whole."""
    x, y = whole()
    shape = (STEPS, hvd.size(), BATCH, -1)
    return tuple(a.reshape(shape)[:, hvd.rank()].reshape(STEPS * BATCH, -1) for a in (x, y))


def fit(made: Any, data: Tuple[Any, Any], batch: int, **more: Any) -> Any:
    """Trains for EPOCHS without shuffling."""
    return made.fit(
        *data, batch_size=batch, epochs=EPOCHS, shuffle=False, verbose=0, **more
    )


def weights(made: Any) -> List[Any]:
    """As arrays."""
    return [np.array(w) for w in made.get_weights()]


def all_close(a: List[Any], b: List[Any], atol: float = 2e-5) -> bool:
    """Every weight."""
    return len(a) == len(b) and all(np.allclose(x, y, atol=atol) for x, y in zip(a, b))
