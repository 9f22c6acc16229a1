"""Without TensorFlow there is nothing to test; what ranks run is for ranks alone."""

import importlib.util
import os
from typing import List

import pytest

collect_ignore = [] if "HVDX_COMPAT_DIRECTORY" in os.environ else ["ranks", "keras_ranks"]


def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    if importlib.util.find_spec("tensorflow") is None:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="TensorFlow is not installed"))
