"""The IPv4 addresses of this machine's network interfaces, without any package."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import List, Optional, Tuple

_AF_INET = 2
_IFF_UP = 1


class _Ifaddrs(ctypes.Structure):
    pass


_Ifaddrs._fields_ = [
    ("next", ctypes.POINTER(_Ifaddrs)),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint),
    ("address", ctypes.c_void_p),
    ("netmask", ctypes.c_void_p),
    ("other", ctypes.c_void_p),
    ("data", ctypes.c_void_p),
]


def _ipv4(entry: _Ifaddrs) -> Optional[str]:
    if not entry.address or not entry.flags & _IFF_UP:
        return None
    if ctypes.c_ushort.from_address(entry.address).value != _AF_INET:
        return None
    return ".".join(str(b) for b in ctypes.string_at(entry.address + 4, 4))


def ipv4_interfaces() -> List[Tuple[str, str]]:
    """(interface, address) of every interface that is up, in the system's order."""
    libc = ctypes.CDLL(None, use_errno=True)
    first = ctypes.POINTER(_Ifaddrs)()
    if libc.getifaddrs(ctypes.byref(first)) != 0:
        raise OSError(ctypes.get_errno(), "getifaddrs")
    found = []
    entry = first
    while entry:
        address = _ipv4(entry.contents)
        if address is not None:
            found.append((entry.contents.name.decode(), address))
        entry = entry.contents.next
    libc.freeifaddrs(first)
    return found
