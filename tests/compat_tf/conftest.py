"""Without TensorFlow there is nothing to test."""

import importlib.util
from typing import List

import pytest


def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    if importlib.util.find_spec("tensorflow") is None:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="TensorFlow is not installed"))
