"""Keys, and proofs that somebody knows one."""

from __future__ import annotations

import hmac
import os

SECRET_LENGTH = 32
DIGEST_LENGTH = 32
HOROVOD_SECRET_KEY = "_HOROVOD_SECRET_KEY"


def make_secret_key() -> bytes:
    """A new random key."""
    return os.urandom(SECRET_LENGTH)


def compute_digest(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA256."""
    return hmac.new(key, message, "sha256").digest()


def check_digest(key: bytes, message: bytes, digest: bytes) -> bool:
    """Whether a digest is right, in time that does not tell how wrong it is."""
    return hmac.compare_digest(compute_digest(key, message), digest)
