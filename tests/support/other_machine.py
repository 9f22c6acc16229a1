"""Makes a host of ssh_hosts.py differ from this machine, though both have the same files.

What sshd runs there (ForceCommand) is a script that first changes what can be seen, in a mount
namespace of its own, and then runs what it was asked for.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from ssh_hosts import SshHosts


def without_folder(path: str) -> str:
    """A step: it is empty there."""
    return f"mount -t tmpfs none {shlex.quote(path)}"


def without_program(path: str) -> str:
    """A step: it cannot be run there."""
    return f"mount --bind /dev/null {shlex.quote(os.path.realpath(path))}"


def make_different(
    hosts: SshHosts, host: int, steps: Sequence[str] = (), words: Sequence[str] = ()
) -> None:
    """From now on logins to `host` take these steps and are run by these words (env, unshare)."""
    inner = f"{hosts.folder}/different{host}"
    outer = f"{hosts.folder}/login{host}"
    run = shlex.join([*words, "/bin/sh", "-c"])
    _write(inner, "set -e", *steps, f'exec {run} "$SSH_ORIGINAL_COMMAND"')
    _write(outer, f"exec unshare --mount {shlex.quote(inner)}")
    hosts.sshd(host).restart(ForceCommand=outer)


def _write(path: str, *lines: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(["#!/bin/sh", *lines, ""]))
    os.chmod(path, 0o755)
