"""Reading from and writing to a KVStoreServer."""

from __future__ import annotations

import time
import urllib.request
from typing import Any

from horovod.runner.common.util import codec
from horovod.runner.common.util.secret import DIGEST_LENGTH, check_digest, compute_digest
from horovod.runner.http.signing import MOST_BYTES, SIGNATURE, job_key, sign

_ATTEMPTS = 3
_BETWEEN_SECONDS = 0.5
_REQUEST_SECONDS = 60


def _request(method: str, addr: str, port: int, path: str, body: bytes) -> bytes:
    headers = {SIGNATURE: sign(job_key(), method, path, body)}
    url = f"http://{addr}:{port}{path}"
    for attempt in range(_ATTEMPTS):
        request = urllib.request.Request(url, body or None, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_REQUEST_SECONDS) as response:
                return bytes(response.read(MOST_BYTES + 1))
        except OSError as error:
            if attempt == _ATTEMPTS - 1:
                raise RuntimeError(f"{method} {url} failed: {error}") from error
            time.sleep(_BETWEEN_SECONDS)
    raise AssertionError


def put_data_into_kvstore(addr: str, port: int, scope: str, key: str, value: Any) -> None:
    """Stores an object, signed."""
    body = codec.dumps_base64(value, to_ascii=False)
    path = f"/{scope}/{key}"
    signature = compute_digest(job_key(), path.encode() + b"\n" + body)
    _request("PUT", addr, port, path, signature + body)


def read_data_from_kvstore(addr: str, port: int, scope: str, key: str) -> Any:
    """The object stored there; it is decoded only if its signature is right."""
    path = f"/{scope}/{key}"
    data = _request("GET", addr, port, path, b"")
    signature, body = data[:DIGEST_LENGTH], data[DIGEST_LENGTH:]
    if not check_digest(job_key(), path.encode() + b"\n" + body, signature):
        raise RuntimeError(f"the value of {path} at {addr}:{port} is not signed by this job")
    return codec.loads_base64(body)
