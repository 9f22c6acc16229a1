"""Every rank runs the same checks in the same order; the engine lives as long as they do."""

import faulthandler
import os
from typing import Any, Callable, Iterator

import pytest
import tensorflow as tf

import horovod.tensorflow as hvd

_failed = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    seconds = float(os.environ.get("HVDX_COMPAT_SECONDS", "300"))
    # A copy of standard error: pytest keeps what is written to the original.
    faulthandler.dump_traceback_later(seconds, exit=True, file=os.dup(2))
    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.config.threading.set_intra_op_parallelism_threads(1)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    outcome: Any = yield
    if outcome.get_result().failed:
        item.stash[_failed] = True


@pytest.fixture(scope="session", autouse=True)
def engine() -> Iterator[None]:
    """One engine for all checks; those that need another start it themselves."""
    hvd.init()
    yield
    hvd.shutdown()


@pytest.fixture(autouse=True)
def in_step(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each check all ranks must be at the same one, with an engine that still works."""
    yield
    if _failed in request.node.stash:
        return
    here = request.node.name
    assert hvd.broadcast_object(here, 0, name="in_step") == here


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


@pytest.fixture(params=["eager", "function"])
def how(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Calls a function as it is, or as a graph."""
    return (lambda f: f) if request.param == "eager" else (
        lambda f: tf.function(f, autograph=False)
    )
