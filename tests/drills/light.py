"""Collectives of plain arrays through the engine's C ABI: such a rank starts in no time.

Frameworks' bindings stand on the same calls; what differs is only whose tensors these are.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Sequence

from horovod.common.basics import HorovodBasics
from horovod.common.exceptions import HorovodInternalError

FLOAT32, INT32 = 7, 4
_SUM = 1
_ALLREDUCE = 0
_OK, _INVALID, _TIMEOUT = 0, 4, 5
# What the engine works on belongs to it until it has ended, also if the script ends before.
_in_flight: dict[int, Any] = {}
_SLICE = 0.2  # seconds; between two, Python gets to see signals


class _Submission(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        *((name, ctypes.c_int32) for name in
          ("kind", "type", "op", "process_set", "root", "device", "ndim")),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("name", ctypes.c_char_p),
        ("scaled", ctypes.c_int32),
        ("prescale", ctypes.c_double),
        ("postscale", ctypes.c_double),
        ("input", ctypes.c_void_p),
        ("output", ctypes.c_void_p),
        ("splits", ctypes.POINTER(ctypes.c_int32)),
        ("split_count", ctypes.c_int32),
        ("allocate", ctypes.c_void_p),
        ("done", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]  # fmt: skip


@dataclass
class Handle:
    """An allreduce under way; `values` is its result when it has ended."""

    number: int
    name: str
    values: Any


class Light:
    """The engine of this process."""

    def __init__(self) -> None:
        self.basics = HorovodBasics(None)
        self._library = self.basics.MPI_LIB_CTYPES
        self._library.hvdx_submit.restype = ctypes.c_int64
        self._library.hvdx_wait.argtypes = [ctypes.c_int64, ctypes.c_double]
        self._library.hvdx_release.argtypes = [ctypes.c_int64]
        self._library.hvdx_counter.restype = ctypes.c_int64

    def counter(self, name: str) -> int:
        """See hvdx_counter()."""
        return int(self._library.hvdx_counter(name.encode()))

    def submit(self, name: str, count: int, value: float, kind: int = FLOAT32) -> Handle:
        """Starts the sum of `count` numbers of this `value`, over all ranks."""
        values = ((ctypes.c_float if kind == FLOAT32 else ctypes.c_int32) * count)()
        for place in {0, count - 1} if count else ():
            values[place] = value if kind == FLOAT32 else int(value)
        what = _Submission(struct_size=ctypes.sizeof(_Submission), kind=_ALLREDUCE, type=kind)
        what.op, what.device, what.ndim = _SUM, -1, 1
        what.shape = (ctypes.c_int64 * 1)(count)
        what.name = name.encode()
        what.input = what.output = ctypes.addressof(values)
        number = int(self._library.hvdx_submit(ctypes.byref(what)))
        if number < 0:
            self._raise(-number)
        _in_flight[number] = values
        return Handle(number, name, values)

    def wait(self, handle: Handle) -> Any:
        """Its result; or the error a user gets."""
        status = _TIMEOUT
        while status == _TIMEOUT:
            status = self._library.hvdx_wait(handle.number, _SLICE)
        try:
            if status != _OK:
                self._raise(status)
        finally:
            self._library.hvdx_release(handle.number)
            _in_flight.pop(handle.number, None)
        return handle.values

    def wait_all(self, handles: Sequence[Handle]) -> None:
        """All of them, also if one fails; then the first error."""
        first: Exception | None = None
        for handle in handles:
            try:
                self.wait(handle)
            except (HorovodInternalError, ValueError) as error:
                first = first or error
        if first is not None:
            raise first

    def _raise(self, status: int) -> None:
        text = self._library.hvdx_last_error().decode(errors="replace")
        raise ValueError(text) if status == _INVALID else HorovodInternalError(text)
