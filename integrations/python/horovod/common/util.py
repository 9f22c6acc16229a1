"""Small things that bindings and launcher share."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from typing import Any, Callable, Iterator, Sequence, TypeVar

EXTENSIONS = ["tensorflow", "torch", "mxnet"]

F = TypeVar("F", bound=Callable[..., Any])


def _cache(function: F) -> F:
    """Remembers results by arguments."""
    results: dict[Any, Any] = {}

    @functools.wraps(function)
    def remembering(*args: Any, **kwargs: Any) -> Any:
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(*args, **kwargs)
        return results[key]

    return remembering  # type: ignore[return-value]


# --- native libraries ---


def get_ext_suffix() -> str:
    """What file names of extensions end in."""
    import sysconfig

    for name in ("EXT_SUFFIX", "SO"):
        suffix = sysconfig.get_config_var(name)
        if suffix:
            return str(suffix)
    return ".so"


def get_extension_full_path(pkg_path: str, *args: str) -> str:
    """The file of an extension beside `pkg_path`, in the folders `args` name before it."""
    if not args:
        raise ValueError("the name of the extension is missing")
    return os.path.join(os.path.dirname(pkg_path), *args[:-1], args[-1] + get_ext_suffix())


def check_extension(ext_name: str, ext_env_var: str, pkg_path: str, *args: str) -> None:
    """Raises ImportError if an extension is not installed."""
    path = get_extension_full_path(pkg_path, *args)
    if not os.path.exists(path):
        raise ImportError(
            f"Extension {ext_name} has not been built: {path} not found\n"
            f"Installing again with {ext_env_var}=1 shows why."
        )


def check_installed_version(
    name: str, version: str, exception: BaseException | None = None
) -> None:
    """Compares a framework's version with the one this package was built for, if that is known."""
    import json

    from horovod.common import exceptions

    path = os.path.join(
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "metadata.json"
    )
    try:
        with open(path, encoding="utf-8") as file:
            built_for = json.load(file).get(name)
    except OSError:
        return
    if built_for is None or built_for == version:
        return
    if exception is not None:
        error = exceptions.HorovodVersionMismatchError(name, version, built_for)
        raise error from exception
    warnings.warn(exceptions.get_version_mismatch_message(name, version, built_for), stacklevel=2)


# --- what there is ---


def _say(verbose: bool, text: str) -> None:
    if verbose:
        print(text)


@_cache
def extension_available(ext_base_name: str, verbose: bool = False) -> bool:
    """Whether a framework and our binding for it are installed; imports neither."""
    import importlib.util

    framework = importlib.util.find_spec(ext_base_name) is not None
    try:
        binding = importlib.util.find_spec(f"horovod.{ext_base_name}") is not None
    except ImportError:
        binding = False
    _say(
        verbose,
        f"Checking whether extension {ext_base_name} is available: {ext_base_name} is "
        f"{'' if framework else 'not '}installed, horovod.{ext_base_name} is "
        f"{'' if binding else 'not '}there.",
    )
    return framework and binding


@_cache
def gpu_available(ext_base_name: str, verbose: bool = False) -> bool:
    """Whether a framework sees a GPU; asked in a process of its own."""
    import subprocess

    if not extension_available(ext_base_name, verbose):
        return False
    program = f"import sys, horovod.{ext_base_name} as e; sys.exit(0 if e._check_has_gpu() else 3)"
    muted = subprocess.DEVNULL
    code = subprocess.run(
        [sys.executable, "-c", program], stdout=muted, stderr=muted, check=False
    ).returncode
    _say(verbose, f"Checking whether {ext_base_name} sees a GPU: {'yes' if code == 0 else 'no'}.")
    return code == 0


def _ask_engine(question: str, verbose: bool) -> Any:
    """What the native library answers to horovod_<question>; None if it cannot be loaded."""
    import ctypes

    from horovodx.library import library_path

    try:
        answer = getattr(ctypes.CDLL(library_path()), f"horovod_{question}")()
    except (OSError, AttributeError) as error:
        _say(verbose, f"Checking {question}: {error}")
        return None
    _say(verbose, f"Checking {question}: {answer & 0xFF if question != 'nccl_built' else answer}.")
    return answer


def _built(library: str, verbose: bool) -> bool | None:
    answer = _ask_engine(f"{library}_built", verbose)
    return None if answer is None else bool(answer & 0xFF)  # a C bool is one byte


@_cache
def mpi_built(verbose: bool = False) -> bool | None:
    """Whether there is an MPI that can be used."""
    answer = _built("mpi", verbose)
    if answer is False:
        _say(verbose, why_no_mpi())
    return answer


def why_no_mpi() -> str:
    """Why MPI cannot be used, in the engine's words; empty if it can."""
    import ctypes

    from horovodx.library import library_path

    try:
        library = ctypes.CDLL(library_path())
    except OSError as error:
        return str(error)
    library.hvdx_mpi_library.restype = ctypes.c_char_p
    library.hvdx_last_error.restype = ctypes.c_char_p
    if library.hvdx_mpi_library() is not None:
        return ""
    return str(library.hvdx_last_error().decode(errors="replace"))


@_cache
def gloo_built(verbose: bool = False) -> bool | None:
    """Whether jobs run without MPI."""
    return _built("gloo", verbose)


@_cache
def nccl_built(verbose: bool = False) -> int | None:
    """NCCL's version code, 0 without it."""
    answer = _ask_engine("nccl_built", verbose)
    return None if answer is None else int(answer)


@_cache
def ddl_built(verbose: bool = False) -> bool | None:
    """Whether IBM's DDL was compiled in."""
    return _built("ddl", verbose)


@_cache
def ccl_built(verbose: bool = False) -> bool | None:
    """Whether oneCCL was compiled in."""
    return _built("ccl", verbose)


# --- odds and ends ---


@contextlib.contextmanager
def env(**kwargs: str | None) -> Iterator[None]:
    """Sets environment variables for a while; None leaves one as it is."""
    before = {name: os.environ.get(name) for name in kwargs}
    os.environ.update({name: value for name, value in kwargs.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is not None:
                os.environ[name] = value
            else:
                os.environ.pop(name, None)


def get_average_backwards_compatibility_fun(reduce_ops: Any) -> Callable[[Any, Any], Any]:
    """A function (op, average) that gives the operation meant; `average` is the old way."""

    def resolve(op: Any, average: Any) -> Any:
        if op is not None:
            if average is not None:
                raise ValueError("The op parameter supersedes average: give op alone")
            return op
        if average is not None:
            warnings.warn(
                "Parameter `average` has been replaced with `op`",
                DeprecationWarning,
                stacklevel=3,
            )
            return reduce_ops.Average if average else reduce_ops.Sum
        return reduce_ops.Average

    return resolve


def num_rank_is_power_2(num_rank: int) -> bool:
    """Whether a number is 1, 2, 4, 8, ..."""
    return num_rank > 0 and num_rank & (num_rank - 1) == 0


def split_list(l: Sequence[Any], n: int) -> list[Sequence[Any]]:  # noqa: E741
    """n consecutive parts of nearly equal lengths, longer ones first."""
    size, longer = divmod(len(l), n)
    starts = [i * size + min(i, longer) for i in range(n + 1)]
    return [l[starts[i] : starts[i + 1]] for i in range(n)]


def is_iterable(x: Any) -> bool:
    """Whether one can loop over it."""
    try:
        iter(x)
    except TypeError:
        return False
    return True


def is_version_greater_equal_than(ver: str, target: str) -> bool:
    """Whether version `ver` is `target` or later; `target` has three parts."""
    from packaging import version

    if not isinstance(ver, str) or not isinstance(target, str):
        raise ValueError(f"versions are strings, not {ver!r} and {target!r}")
    if len(target.split(".")) != 3:
        raise ValueError(f"the target must be major.minor.patch, not {target!r}")
    return version.parse(ver) >= version.parse(target)
