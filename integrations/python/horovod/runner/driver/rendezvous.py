"""The job's meeting place: our native store, and the secret that opens it."""

from __future__ import annotations

import os

SECRET = "HOROVODX_SECRET"
JOB_ID = "HOROVODX_JOB_ID"


class Rendezvous:
    """The store through which the ranks of one job find each other; one at a time in a process."""

    def __init__(self, address: str) -> None:
        from horovodx import _horovodx

        self.secret = os.urandom(32).hex()
        self.job_id = f"{os.getpid()}-{os.urandom(6).hex()}"
        try:
            self.port = int(_horovodx.rendezvous_start(address, 0, self.secret, self.job_id))
        except Exception as error:
            raise RuntimeError(f"cannot serve the rendezvous on {address}: {error}") from error

    def env(self) -> dict[str, str]:
        """What lets a worker in. Never on a command line, never in a log."""
        return {SECRET: self.secret, JOB_ID: self.job_id}

    def stop(self) -> None:
        """Closes it; ranks that still wait see an error."""
        from horovodx import _horovodx

        _horovodx.rendezvous_stop()
