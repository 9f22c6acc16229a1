"""Keras 3 on PyTorch, and Keras 2. Keras 3 on TensorFlow is in test_tensorflow.py."""

import pytest
import rank_jobs

SECONDS = 420.0


@pytest.mark.parametrize("which", ["torch", "legacy"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_keras(which: str, ranks: int) -> None:
    code, output = rank_jobs.run_checks(ranks, rank_jobs.KERAS_FILES, SECONDS, HVDX_KERAS=which)
    print(output)
    assert code == 0
