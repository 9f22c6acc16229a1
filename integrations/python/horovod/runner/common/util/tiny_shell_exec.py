"""Short commands whose output is wanted."""

from __future__ import annotations

import subprocess
from typing import Mapping


def execute(command: str, env: Mapping[str, str] | None = None) -> tuple[str, int] | None:
    """Output (both streams) and exit code of a shell command; None if it cannot be started."""
    try:
        done = subprocess.run(
            command,
            shell=True,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.decode("utf-8", "replace"), done.returncode
