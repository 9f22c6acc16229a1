"""Models with a distributed optimizer: saved, loaded without Horovod, loaded with it."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from whole_and_parts import BATCH, WHICH, all_close, fit, hvd, keras, model, part, weights

FORMATS = [".keras", ".h5"]


def _trained() -> Any:
    made = model()
    optimizer = hvd.DistributedOptimizer(keras.optimizers.Adam(0.05))
    made.compile(optimizer, keras.losses.MeanSquaredError())
    fit(made, part(), BATCH)
    return made


@pytest.mark.parametrize("suffix", FORMATS)
def test_round_trip(tmp_path: Any, suffix: str) -> None:
    made = _trained()
    path = str(tmp_path / ("model" + suffix))
    made.save(path)
    loaded = hvd.load_model(path)
    assert type(loaded.optimizer).__name__ == "Adam"
    assert hasattr(loaded.optimizer, "register_local_var")
    assert all_close(weights(loaded), weights(made))
    fit(loaded, part(), BATCH)
    if suffix == ".h5" and WHICH != "legacy":
        return  # Keras 3 itself loses the state
    # Both go on in the same way, so the state came along.
    fit(made, part(), BATCH)
    assert all_close(weights(loaded), weights(made))
    assert int(np.array(loaded.optimizer.iterations)) == int(np.array(made.optimizer.iterations))


@pytest.mark.parametrize("suffix", FORMATS)
def test_loading_without_horovod(tmp_path: Any, suffix: str, one_rank: None) -> None:
    made = _trained()
    path = str(tmp_path / ("model" + suffix))
    made.save(path)
    plain = keras.models.load_model(path)
    assert isinstance(plain.optimizer, keras.optimizers.Adam)
    assert not hasattr(plain.optimizer, "register_local_var")
    if suffix == ".keras" and WHICH == "tensorflow":
        program = (
            "import sys, keras; model = keras.models.load_model(sys.argv[1]); "
            "assert type(model.optimizer) is keras.optimizers.Adam; "
            "assert not any(name.startswith('horovod') for name in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", program, path], check=True, timeout=120)


def test_a_used_optimizer_keeps_its_state() -> None:
    if WHICH == "legacy":
        pytest.skip("Keras 2 does not tell what an optimizer was built for")
    plain = model()
    plain.compile(keras.optimizers.Adam(0.05), "mse")
    fit(plain, part(), BATCH)
    again = hvd.DistributedOptimizer(plain.optimizer)
    assert len(again.variables) == len(plain.optimizer.variables)
    for a, b in zip(again.variables, plain.optimizer.variables):
        assert np.allclose(np.array(a), np.array(b))


def test_custom_optimizers(tmp_path: Any) -> None:
    class Strange(keras.optimizers.SGD):  # type: ignore[misc]
        pass

    made = model()
    made.compile(hvd.DistributedOptimizer(Strange(0.1)), "mse")
    fit(made, part(), BATCH)
    path = str(tmp_path / "strange.keras")
    made.save(path)
    loaded = hvd.load_model(path, custom_optimizers=[Strange])
    assert isinstance(loaded.optimizer, Strange)
    assert hasattr(loaded.optimizer, "register_local_var")
