"""A name for a host that differs between containers on the same machine."""

from __future__ import annotations

import hashlib
import os
import socket


def _hash(string: str) -> str:
    return hashlib.md5(string.encode("utf-8"), usedforsecurity=False).hexdigest()


def _namespaces() -> str:
    folder = "/proc/self/ns"
    try:
        return " ".join(os.readlink(os.path.join(folder, n)) for n in sorted(os.listdir(folder)))
    except OSError:
        return ""


def host_hash(salt: str | None = None) -> str:
    """`<short host name>-<hash of host name, namespaces and salt>`."""
    hostname = socket.gethostname()
    about = f"{hostname}-{_namespaces()}" + (f"-{salt}" if salt else "")
    return f"{hostname.partition('.')[0]}-{_hash(about)}"
