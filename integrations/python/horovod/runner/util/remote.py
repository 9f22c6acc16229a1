"""Commands on other hosts: by ssh, or by the script of a Kubeflow pod."""

from __future__ import annotations

import shlex

from horovod.runner.common.util import env as env_util

SSH_COMMAND_PREFIX = "ssh -o PasswordAuthentication=no -o StrictHostKeyChecking=no"
_KUBEFLOW = "/etc/mpi/kubexec.sh"


def get_ssh_command(
    local_command: str,
    host: str,
    port: int | None = None,
    identity_file: str | None = None,
    timeout_s: float | None = None,
) -> str:
    """The ssh command line that runs `local_command` on `host`."""
    parts = [SSH_COMMAND_PREFIX, host]
    if port:
        parts.append(f"-p {port}")
    if identity_file:
        parts.append(f"-i {shlex.quote(identity_file)}")
    if timeout_s:
        parts.append(f"-o ConnectTimeout={timeout_s}")
    return " ".join([*parts, local_command])


def get_remote_command(
    local_command: str,
    host: str,
    port: int | None = None,
    identity_file: str | None = None,
    timeout_s: float | None = None,
) -> str:
    """The same, as this environment wants it."""
    if env_util.is_kubeflow_mpi():
        return f"{_KUBEFLOW} {host} {local_command}"
    return get_ssh_command(local_command, host, port, identity_file, timeout_s)
