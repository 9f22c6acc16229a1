"""Signatures of HTTP requests, made with the job's secret."""

from __future__ import annotations

import os
import secrets
from typing import Any

from horovod.runner.common.util.secret import check_digest, compute_digest
from horovod.runner.driver.rendezvous import SECRET

SIGNATURE = "X-Horovodx-Signature"
MOST_BYTES = 256 << 20  # in a value


def job_key(create: bool = False) -> bytes:
    """The secret of the job this process belongs to; `create` makes one where there is none."""
    if SECRET not in os.environ:
        if not create:
            raise RuntimeError(
                f"{SECRET} is not set: this process was not started by a launcher of the job"
            )
        os.environ[SECRET] = secrets.token_hex(32)
    return bytes.fromhex(os.environ[SECRET])


def _signed_text(method: str, path: str, body: bytes) -> bytes:
    return f"kvstore {method} {path}\n".encode() + body


def sign(key: bytes, method: str, path: str, body: bytes) -> str:
    """The signature of a request."""
    return compute_digest(key, _signed_text(method, path, body)).hex()


def is_signed(key: bytes, method: str, path: str, body: bytes, headers: Any) -> bool:
    """Whether a request comes from somebody who knows the secret."""
    try:
        digest = bytes.fromhex(headers.get(SIGNATURE, ""))
    except ValueError:
        return False
    return check_digest(key, _signed_text(method, path, body), digest)
