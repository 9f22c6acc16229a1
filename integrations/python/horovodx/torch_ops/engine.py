"""What the operators' Python side asks the engine."""

import ctypes
import functools

from horovodx.library import library_path


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(library_path())


def set_size(process_set: int) -> int:
    """How many ranks the process set has."""
    size: int = _library().horovod_process_set_size(process_set)
    if size < 0:
        raise RuntimeError("Horovod has not been initialized; use hvd.init().")
    return size


def rank_in_set(process_set: int) -> int:
    """The place of this rank in the process set."""
    rank: int = _library().horovod_process_set_rank(process_set)
    if rank < 0:
        raise RuntimeError("Horovod has not been initialized; use hvd.init().")
    return rank
