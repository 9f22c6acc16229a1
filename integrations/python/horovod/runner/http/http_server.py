"""Servers for launchers that are not ours: the rendezvous, and a small key-value store."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterable

from horovod.runner.common.util.hosts import SlotInfo
from horovod.runner.driver.rendezvous import JOB_ID, SECRET, Rendezvous
from horovod.runner.http.signing import MOST_BYTES, SIGNATURE, is_signed, job_key

_BODY_SECONDS = 3.0


class RendezvousHandler:
    """Stands for the rendezvous; our engine's own protocol needs no handler of HTTP."""


class RendezvousServer:
    """Where the ranks of a job meet, for a launcher that starts the processes itself.

    start() puts the job's secret and id (HOROVODX_SECRET, HOROVODX_JOB_ID) into os.environ: workers
    must have both, and get them if they are started from this process and inherit its environment.
    """

    def __init__(self, verbose: int = 0) -> None:
        self._verbose = verbose
        self._rendezvous: Rendezvous | None = None
        self._before: dict[str, str | None] = {}
        self.host_alloc_plan: list[SlotInfo] = []

    def start(self, handler_cls: Any = RendezvousHandler, address: str = "0.0.0.0") -> int:
        """Starts it and returns its port. Only who proves the secret is listened to."""
        self._rendezvous = Rendezvous(address)
        self._before = {name: os.environ.get(name) for name in (SECRET, JOB_ID)}
        os.environ.update(self._rendezvous.env())
        if self._verbose:
            print(f"Rendezvous INFO: serving on port {self._rendezvous.port}")
        return self._rendezvous.port

    def env(self) -> dict[str, str]:
        """What a worker needs beside address and port. Not for command lines or logs."""
        return self._rendezvous.env() if self._rendezvous else {}

    def init(self, host_alloc_plan: Iterable[SlotInfo]) -> int:
        """Tells which ranks will come; returns the port."""
        if self._rendezvous is None:
            raise RuntimeError("the rendezvous has not been started: start() comes before init()")
        self.host_alloc_plan = list(host_alloc_plan)
        return self._rendezvous.port

    def stop(self) -> None:
        """Stops it, and takes its secret out of os.environ."""
        if self._rendezvous is None:
            return
        self._rendezvous.stop()
        self._rendezvous = None
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class KVStoreHandler(BaseHTTPRequestHandler):
    """PUT, GET and DELETE of /scope/key; bytes only, for requests signed with the job's secret."""

    timeout = 60

    def do_PUT(self) -> None:
        """Keeps a value."""
        body = self._body()
        place = self._place(body or b"")
        if body is None or place is None:
            return
        store = self._store()
        with store.lock:
            store.values[place] = body
        self._answer(200)

    def do_GET(self) -> None:
        """A value, or 404."""
        place = self._place(b"")
        if place is None:
            return
        store = self._store()
        with store.lock:
            value = store.values.get(place)
        self._answer(404 if value is None else 200, value or b"")

    def do_DELETE(self) -> None:
        """Forgets a value."""
        place = self._place(b"")
        if place is None:
            return
        store = self._store()
        with store.lock:
            store.values.pop(place, None)
        self._answer(200)

    def _store(self) -> _StoreServer:
        assert isinstance(self.server, _StoreServer)
        return self.server

    def _place(self, body: bytes) -> tuple[str, str] | None:
        """Scope and key of a request that is signed and well formed; else it is answered."""
        if not is_signed(self._store().key, self.command, self.path, body, self.headers):
            self._answer(403)
            return None
        parts = self.path.split("/", 2)
        if len(parts) < 3 or not parts[1] or not parts[2]:
            self._answer(400)
            return None
        return parts[1], parts[2]

    def _body(self) -> bytes | None:
        """Read only as far as the limit allows, and not for long; else it is answered."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MOST_BYTES or SIGNATURE not in self.headers:
            self._answer(403 if SIGNATURE not in self.headers else 413)
            return None
        self.connection.settimeout(_BODY_SECONDS)
        try:
            body = self.rfile.read(int(length))
        except OSError:
            body = b""
        if len(body) < int(length):
            self._answer(408)
            return None
        return body

    def _answer(self, code: int, body: bytes = b"") -> None:
        self.close_connection = True
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


class _StoreServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, place: tuple[str, int], handler: type[KVStoreHandler], key: bytes) -> None:
        super().__init__(place, handler)
        self.key = key
        self.lock = threading.Lock()
        self.values: dict[tuple[str, str], bytes] = {}


class KVStoreServer:
    """A key-value store over HTTP for processes that share the job's secret."""

    def __init__(self, verbose: int = 0) -> None:
        self._verbose = verbose
        self._server: _StoreServer | None = None
        self._thread: threading.Thread | None = None

    def start_server(self, address: str = "") -> int:
        """Starts it and returns its port; makes a secret in os.environ if there is none."""
        self._server = _StoreServer((address, 0), KVStoreHandler, job_key(create=True))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return int(self._server.server_address[1])

    def shutdown_server(self) -> None:
        """Stops it."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._server = self._thread = None
