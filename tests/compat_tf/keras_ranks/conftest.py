"""The same checks with each Keras, in step on all ranks.

HVDX_KERAS says which: "tensorflow" (Keras 3), "torch" (Keras 3), or "legacy" (tf_keras, or
Keras 2 where TensorFlow has no other).
"""

import faulthandler
import os
from importlib.metadata import version
from typing import Any, Iterator

import pytest

WHICH = os.environ.get("HVDX_KERAS", "tensorflow")
os.environ["KERAS_BACKEND"] = "torch" if WHICH == "torch" else "tensorflow"
if WHICH == "legacy" and not version("keras").startswith("2."):
    os.environ["TF_USE_LEGACY_KERAS"] = "1"

if WHICH == "legacy":
    import horovod.tensorflow.keras as hvd
else:
    import horovod.keras as hvd  # type: ignore[no-redef]

_failed = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    seconds = float(os.environ.get("HVDX_COMPAT_SECONDS", "300"))
    faulthandler.dump_traceback_later(seconds, exit=True, file=os.dup(2))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    outcome: Any = yield
    if outcome.get_result().failed:
        item.stash[_failed] = True


@pytest.fixture(scope="session", autouse=True)
def engine() -> Iterator[None]:
    hvd.init()
    yield
    hvd.shutdown()


@pytest.fixture(autouse=True)
def in_step(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each check all ranks must be at the same one."""
    yield
    if _failed not in request.node.stash:
        here = sum(map(ord, request.node.name)) % 1000
        assert int(hvd.broadcast([here], 0, name="in_step")[0]) == here


@pytest.fixture
def rank() -> int:
    return hvd.rank()


@pytest.fixture
def size() -> int:
    return hvd.size()


@pytest.fixture
def one_rank(size: int) -> None:
    """For what takes its time and does not depend on the number of ranks."""
    if size > 1:
        pytest.skip("checked on one rank")
