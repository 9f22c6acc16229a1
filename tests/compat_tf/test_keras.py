"""Keras 3 on TensorFlow and on PyTorch, and Keras 2: the files of keras_ranks/ on all ranks."""

import pytest
import rank_jobs

SECONDS = 300.0
FILES = ["optimizer.py", "callbacks.py", "saving.py", "elastic.py"]


@pytest.mark.parametrize(
    "which, ranks", [("tensorflow", 2), ("torch", 2), ("legacy", 2)]
)
def test_keras(which: str, ranks: int) -> None:
    code, output = rank_jobs.run_checks(
        ranks, [f"../keras_ranks/{file}" for file in FILES], SECONDS, HVDX_KERAS=which
    )
    print(output)
    assert code == 0
