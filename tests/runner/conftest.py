"""horovodrun as users run it, and a look at what it leaves behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # support/

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 30.0  # for anything that should happen soon

Run = Callable[..., subprocess.CompletedProcess[str]]


def horovodrun_path() -> str:
    """The command that belongs to this interpreter."""
    beside = Path(sys.executable).with_name("horovodrun")
    found = str(beside) if beside.exists() else shutil.which("horovodrun")
    assert found, "horovodrun is not installed"
    return found


def clean_env(**more: str) -> dict[str, str]:
    """Our environment without any settings of Horovod."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HOROVOD", "LSB_"))}
    return {**kept, **more}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of its own, so that no cache is shared."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    """The environment of a launch."""
    return clean_env(HOME=str(home))


@pytest.fixture
def run(env: dict[str, str]) -> Run:
    """Runs horovodrun with these words."""

    def call(
        *words: str, timeout: float = SECONDS, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        variables = {**env, **more.pop("env", {})}
        options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **more}
        return subprocess.run(
            [horovodrun_path(), *words], env=variables, check=False, timeout=timeout, **options
        )

    return call


@pytest.fixture
def start(env: dict[str, str], mark: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts horovodrun with these words; it is killed at the end if it still runs."""
    started: list[subprocess.Popen[str]] = []

    def call(*words: str, **more: Any) -> subprocess.Popen[str]:
        variables = {**env, **more.pop("env", {})}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        process = subprocess.Popen(
            [horovodrun_path(), *words],
            env=variables,
            text=True,
            stdin=subprocess.DEVNULL,
            **options,
        )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=SECONDS)


def processes_with(mark: str) -> list[int]:
    """Processes that have `mark` in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark.encode() in file.read():
                        found.append(int(entry))
            except OSError:
                continue
    return found


def wait_until(condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    """What `condition` gives once it is true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.02)
    return value


@pytest.fixture
def mark() -> Iterator[str]:
    """A variable that tells the processes of one test; none of them may survive it."""
    text = f"RUNNER_TEST_MARK=m{os.getpid()}x{time.monotonic_ns()}"
    yield text
    wait_until(lambda: not processes_with(text), "the end of all processes of this test")
