"""Collectives of numpy arrays through the engine's C ABI: such a rank starts at once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Sequence

import numpy

from horovod.common.basics import HorovodBasics
from horovodx import _horovodx as native

_ALLREDUCE, _ALLGATHER, _BROADCAST, _ALLTOALL, _BARRIER, _REDUCESCATTER = 0, 1, 2, 5, 6, 7
TYPES = {"float16": 6, "float32": 7, "int64": 5}
OPS = {"average": 0, "sum": 1, "min": 3, "max": 4, "product": 5}

Array = Any  # numpy.ndarray


class Arrays(HorovodBasics):
    """The engine of this process. Every operation returns a new array."""

    def __init__(self) -> None:
        super().__init__(None)

    def _submit(self, kind: int, name: str, x: Array, output: int, **how: Any) -> int:
        assert x.flags.c_contiguous
        number = TYPES[x.dtype.name]
        handle = native.submit(kind, name, number, x.shape, x.ctypes.data, output, **how)
        return int(handle)

    def start_allreduce(self, name: str, x: Array, op: str) -> tuple[int, Array, Array]:
        """A handle, the result when it has ended, and the input, which must live until then."""
        result = numpy.empty_like(x)
        return self._submit(_ALLREDUCE, name, x, result.ctypes.data, op=OPS[op]), result, x

    def allreduce(self, name: str, x: Array, op: str) -> Array:
        """Reduced over all ranks."""
        handle, result, _ = self.start_allreduce(name, x, op)
        self._end(handle)
        return result

    def allgather(self, name: str, x: Array) -> Array:
        """The rows of all ranks."""
        return self._take(self._submit(_ALLGATHER, name, x, 0), x)

    def broadcast(self, name: str, x: Array, root: int) -> Array:
        """The root's."""
        result = x.copy()
        self._end(self._submit(_BROADCAST, name, x, result.ctypes.data, root=root))
        return result

    def alltoall(self, name: str, x: Array, splits: Sequence[int] | None = None) -> Array:
        """The rows that all ranks have for this one."""
        rows = None if splits is None else list(splits)
        return self._take(self._submit(_ALLTOALL, name, x, 0, splits=rows), x)

    def reducescatter(self, name: str, x: Array, op: str) -> Array:
        """This rank's rows of what is reduced; the first ranks have one more."""
        rows = x.shape[0] // self.size() + (self.rank() < x.shape[0] % self.size())
        result = numpy.empty((rows, *x.shape[1:]), x.dtype)
        self._end(self._submit(_REDUCESCATTER, name, x, result.ctypes.data, op=OPS[op]))
        return result

    def barrier(self) -> None:
        """Waits for all."""
        self._end(native.submit(_BARRIER, "barrier.noname", TYPES["float32"], [], 0, 0))

    def _end(self, handle: int) -> None:
        native.wait_all([handle])
        native.release(handle)

    def _take(self, handle: int, like: Array) -> Array:
        """A copy of what the engine keeps."""
        native.wait(handle)
        shape = native.output_shape(handle)
        count = int(numpy.prod(shape))
        if count == 0:
            native.release(handle)
            return numpy.empty(shape, like.dtype)
        kept = native.Result(handle, count * like.itemsize)  # the handle is its own from here on
        return numpy.frombuffer(kept, like.dtype).reshape(shape).copy()


def numbers(rank: int, count: int, dtype: str = "float32") -> Array:
    """A rank's input, of small whole numbers: sums and averages of some ranks are exact.

    It repeats after 1009, a prime, so what lands in a wrong place is seen.
    """
    some = (numpy.arange(1009) * 7 + rank * 13) % 11
    return numpy.resize(some.astype(dtype), count)


def factors(rank: int, count: int, dtype: str = "float32") -> Array:
    """A rank's input for a product that is exact: of 8 ranks between 2^-8 and 2^8."""
    choices = numpy.array([1, -1, 2, 1 if dtype == "int64" else 0.5])
    some = choices[(numpy.arange(1009) * 5 + rank * 3) % 4]
    return numpy.resize(some.astype(dtype), count)


@lru_cache(maxsize=64)
def inputs(op: str, rank: int, count: int, dtype: str = "float32") -> Array:
    """What a rank has to give. Not to be written to: it is kept."""
    return factors(rank, count, dtype) if op == "product" else numbers(rank, count, dtype)


@lru_cache(maxsize=64)
def reduced(op: str, size: int, count: int, dtype: str = "float32") -> Array:
    """What all must have in the end, by numpy. Not to be written to: it is kept."""
    period = min(count, 1009)
    everyone = numpy.stack([inputs(op, r, period, dtype).astype("float64") for r in range(size)])
    result = {
        "sum": lambda: everyone.sum(0),
        "average": lambda: everyone.sum(0) / size,
        "min": lambda: everyone.min(0),
        "max": lambda: everyone.max(0),
        "product": lambda: everyone.prod(0),
    }[op]()
    if dtype == "int64":
        result = numpy.trunc(result)
    return numpy.resize(result.astype(dtype), count)


def same(got: Array, expected: Array, what: object, rounding: float = 0.0) -> None:
    """Element for element; an average over 3 ranks is not exact and may be rounded."""
    assert got.shape == expected.shape and got.dtype == expected.dtype, (what, got.shape)
    bits = f"u{got.itemsize}"
    if numpy.array_equal(got.view(bits), expected.view(bits)):  # much faster than half floats
        return
    wrong = numpy.flatnonzero(~numpy.isclose(got, expected, rtol=rounding, atol=0).ravel())
    if wrong.size:
        at = int(wrong[0])
        raise AssertionError(
            f"{what}: {wrong.size} of {got.size} wrong, the first at {at}: "
            f"{got.ravel()[at]} instead of {expected.ravel()[at]}"
        )
