"""Results of checks, kept for a while in the user's home."""

from __future__ import annotations

import os
import threading
import time
from functools import wraps
from typing import Any, Callable


class Cache:
    """A file of values that are forgotten when they are old; each `parameters_hash` has its own."""

    def __init__(
        self, cache_folder: str, cache_staleness_threshold_in_minutes: float, parameters_hash: str
    ) -> None:
        self._path = os.path.join(cache_folder, "cache.bin")
        self._staleness = cache_staleness_threshold_in_minutes * 60
        self._parameters_hash = parameters_hash
        self._lock = threading.Lock()
        os.makedirs(cache_folder, mode=0o700, exist_ok=True)
        self._content = self._load()

    def _load(self) -> dict[Any, tuple[Any, float]]:
        """What is there, if it is ours; a damaged file counts as empty."""
        import pickle

        try:
            with open(self._path, "rb") as file:
                if os.fstat(file.fileno()).st_uid != os.getuid():
                    return {}
                content = pickle.load(file)
        except Exception:
            return {}
        return content if isinstance(content, dict) else {}

    def get(self, key: Any) -> Any:
        """The value, or None if there is none or it is old."""
        with self._lock:
            value, when = self._content.get((self._parameters_hash, key), (None, 0.0))
        return value if self._is_fresh(when) else None

    def put(self, key: Any, val: Any) -> None:
        """Keeps a value, and writes the file."""
        import pickle

        with self._lock:
            self._content[self._parameters_hash, key] = (val, time.time())
            self._content = {k: v for k, v in self._content.items() if self._is_fresh(v[1])}
            partial = f"{self._path}.{os.getpid()}"
            fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(fd, "wb") as file:
                pickle.dump(self._content, file)
            os.replace(partial, self._path)

    def _is_fresh(self, when: float) -> bool:
        return 0 <= time.time() - when <= self._staleness

    @property
    def parameters_hash(self) -> str:
        """What the values depend on."""
        return self._parameters_hash


def use_cache() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For functions: a call with `fn_cache=` looks there before it works, and keeps the result."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def cached(*args: Any, **kwargs: Any) -> Any:
            cache = kwargs.pop("fn_cache", None)
            if cache is None:
                return function(*args, **kwargs)
            key = (function.__name__, str(args), str(sorted(kwargs.items())))
            value = cache.get(key)
            if value is None:
                value = function(*args, **kwargs)
                cache.put(key, value)
            return value

        return cached

    return decorate
