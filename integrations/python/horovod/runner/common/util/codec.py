"""Objects as text. Decoding runs code that the text names: only for texts of our own."""

from __future__ import annotations

import base64
from typing import Any


def dumps_base64(obj: Any, to_ascii: bool = True) -> Any:
    """An object as base64: a string, or bytes without `to_ascii`."""
    import cloudpickle

    encoded = base64.b64encode(cloudpickle.dumps(obj))
    return encoded.decode("ascii") if to_ascii else encoded


def loads_base64(encoded: str | bytes) -> Any:
    """The reverse of dumps_base64()."""
    import cloudpickle

    return cloudpickle.loads(base64.b64decode(encoded))
