"""A job that works, step after step, until a test is done with it; then all must end well."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import outside
from drill import Drill
from matrix import Cell

NOBODY = 65534


def as_nobody(words: list[str]) -> list[str]:
    """The same command, by a user who has nothing here."""
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    return ["setpriv", *user, *words]


def nobodys_python() -> list[str]:
    """A Python of our version with our packages that this user may run; empty if there is none."""
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info[1]}"):
        words = ["env", f"PYTHONPATH={packages}", python]
        probe = as_nobody(["sh", "-c", 'exec "$@"', "sh", *words, "-c", "import horovod.runner"])
        if subprocess.run(probe, capture_output=True, check=False, cwd="/").returncode == 0:
            return words
    return []


class Steady(Drill):
    """Inside of a `with` its ranks run; at the end they are let go, and checked."""

    def __init__(self, size: int = 2, transport: str = "shm", nobody: bool = False) -> None:
        folder = tempfile.mkdtemp(prefix="hvdx-steady-")
        self._nobody = nobody
        super().__init__(Cell("garbage", "collective", transport, size, 1), 0, folder, None)
        self._env["DRILL_PAUSE"] = "0.01"  # the test wants to work, too
        if nobody:
            os.chown(folder, NOBODY, NOBODY)
            self._env["HOME"] = folder

    def _start(self, output: Any) -> Any:
        if not self._nobody:
            return super()._start(output)
        python = nobodys_python()
        program = "from horovod.runner.launch import run_commandline; run_commandline()"
        _, *options, _, rank = self._words()
        return self._launch(as_nobody([*python, "-c", program, *options, python[-1], rank]), output)

    def __enter__(self) -> Steady:
        self._output = open(self.folder / "output", "wb")
        self.launcher = self._start(self._output)
        if not self._await(self.launcher, *(f"ready.{r}" for r in range(self.cell.size))):
            self._finish()
            raise AssertionError((self.folder / "output").read_text())
        return self

    def __exit__(self, kind: type | None, *_: TracebackType | BaseException | None) -> None:
        try:
            outcome = self._finish()
            if kind is None:
                assert outcome.ok, [*outcome.problems, outcome.output]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _finish(self) -> Any:
        self._say_struck()
        (self.folder / "stop").touch()
        self._await_end(self.launcher)
        self._clean_up(self.launcher)
        self._output.close()
        self._outcome.output = (self.folder / "output").read_text(errors="replace")
        self._compare(self.launcher.returncode)
        return self._outcome

    # --- what a test wants to know of it ---

    @property
    def pids(self) -> list[int]:
        """Of the ranks."""
        return [int(self._ready(rank)["pid"]) for rank in range(self.cell.size)]

    def variable(self, name: str) -> str:
        """From the environment of rank 0, which only root and its own user can read."""
        environ = Path(f"/proc/{self.pids[0]}/environ").read_bytes().split(b"\0")
        return dict(e.split(b"=", 1) for e in environ if b"=" in e)[name.encode()].decode()

    @property
    def secret(self) -> bytes:
        """The job's."""
        return bytes.fromhex(self.variable("HOROVODX_SECRET"))

    @property
    def store(self) -> outside.Address:
        """Where the launcher listens."""
        return "127.0.0.1", int(self.variable("HOROVOD_GLOO_RENDEZVOUS_PORT"))

    @property
    def doors(self) -> list[outside.Address]:
        """All ports of this job, the launcher's last."""
        return self._doors()
