"""Every rank runs the same checks in the same order; the engine lives as long as they do."""

import faulthandler
import os
from collections.abc import Iterator
from typing import Any

import pytest

import horovod.torch as hvd

_failed = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    # Only in a rank of a job: whoever collects this folder reads this file too.
    seconds = os.environ.get("HVDX_COMPAT_SECONDS")
    if seconds:
        # A copy of standard error: pytest keeps what is written to the original.
        faulthandler.dump_traceback_later(float(seconds), exit=True, file=os.dup(2))


def pytest_report_header(config: pytest.Config) -> str:
    return f"HVDX_SEED={os.environ.get('HVDX_SEED', '0')}"


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
    if not hvd.is_initialized():
        hvd.init()
    here = request.node.name
    assert hvd.broadcast_object(here, 0, name="in_step") == here


@pytest.fixture
def restart() -> Iterator[None]:
    """Engine and handle numbers start anew after a check in which ranks made unequal calls."""
    yield
    hvd.barrier()
    hvd.shutdown()
    hvd.init()


@pytest.fixture
def rank() -> int:
    return hvd.rank()


@pytest.fixture
def size() -> int:
    return hvd.size()
