"""Which TensorFlow there is. Imported before anything else of this package imports TensorFlow."""

from typing import Tuple

TRIED = ((2, 15), (2, 21))  # the first and the last version that our library has run with


def _said(version: Tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def parsed(version: str) -> Tuple[int, ...]:
    """Major and minor."""
    return tuple(int(part) for part in version.split(".")[:2])


def _check() -> None:
    needed = (
        f"horovod.tensorflow needs TensorFlow {_said(TRIED[0])} or later "
        f"(it has been tried with {_said(TRIED[0])} to {_said(TRIED[1])})"
    )
    try:
        import tensorflow
    except ImportError as error:
        missing = getattr(error, "name", None) == "tensorflow"
        raise ImportError(
            f"{needed}; " + ("none is installed." if missing else f"importing it fails: {error}.")
        ) from error
    version = getattr(tensorflow, "__version__", None)  # a directory of that name has none
    if version is None or parsed(version) < TRIED[0]:
        raise ImportError(f"{needed}; this is {version or tensorflow}.")


_check()
