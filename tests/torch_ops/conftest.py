"""What the tests of torch.ops.horovodx share: an engine of size 1 in the process of the tests."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch", minversion="2.10")

from horovodx.library import library_path


@pytest.fixture(scope="session", autouse=True)
def own_compile_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled code of other runs, made with other versions of our files, must not be used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))
        patch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")  # processes of its own start slowly
        yield


@pytest.fixture(scope="session")
def engine(own_compile_cache: None) -> Iterator[ctypes.CDLL]:
    """The engine, alone."""
    library = ctypes.CDLL(library_path())
    library.horovod_init.restype = ctypes.c_bool
    assert library.horovod_init(None, 0, None, None, 0)
    yield library
    library.horovod_shutdown()


@pytest.fixture
def programs() -> pathlib.Path:
    """Where the programs lie that ranks run."""
    return pathlib.Path(__file__).with_name("programs")
