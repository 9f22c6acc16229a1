"""How a function gets to the workers, and what it returned gets back.

Both travel inside the pipes and ssh connections of the launcher, which belong to this user, so
nothing that a stranger could send is ever unpickled. No port is opened for it.
"""

from __future__ import annotations

import struct
import sys
from typing import Any, BinaryIO, Callable, Mapping

_LENGTH = struct.Struct("!Q")  # before a result, so that a torn one is noticed


def pack_function(function: Callable[[], Any]) -> bytes:
    """The function and where this process finds modules."""
    import cloudpickle

    return bytes(cloudpickle.dumps((list(sys.path), cloudpickle.dumps(function))))


def unpack_function(file: BinaryIO) -> Callable[[], Any]:
    """The reverse; modules are looked for where the launcher has them, after our own places."""
    import cloudpickle

    path, function = cloudpickle.loads(file.read())
    sys.path += [place for place in path if place not in sys.path]
    return cloudpickle.loads(function)  # type: ignore[no-any-return]


def pack_result(result: Any) -> bytes:
    """What a function returned."""
    import cloudpickle

    content: bytes = cloudpickle.dumps(result)
    return _LENGTH.pack(len(content)) + content


def unpack_results(received: Mapping[int, bytearray], ranks: int) -> list[Any]:
    """What the function returned on each rank."""
    import cloudpickle

    results = []
    for rank in range(ranks):
        data = memoryview(received.get(rank, b""))
        if len(data) < _LENGTH.size or len(data) != _LENGTH.size + _LENGTH.unpack_from(data)[0]:
            raise RuntimeError(f"rank {rank} exited with 0 before it returned a result")
        results.append(cloudpickle.loads(data[_LENGTH.size :]))
    return results
