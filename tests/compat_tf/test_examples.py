"""The examples for TensorFlow and Keras, as their first lines say to run them."""

import re
import sys
from pathlib import Path

import pytest
import rank_jobs

pytest.importorskip("sklearn")

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 240.0


@pytest.mark.parametrize("name", ["tensorflow2_digits", "keras_digits", "keras_torch_digits"])
def test_example(name: str) -> None:
    if "torch" in name:
        pytest.importorskip("torch")
    code, output = rank_jobs.run(2, [sys.executable, str(EXAMPLES / f"{name}.py")], SECONDS)
    print(output)
    assert code == 0
    accuracy = re.findall(r"test accuracy on 2 ranks: ([0-9.]+) %", output)
    assert len(accuracy) == 1 and float(accuracy[0]) > 95.0
