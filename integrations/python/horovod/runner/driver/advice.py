"""What helps with a host that ssh does not reach, by what ssh or the host said."""

from __future__ import annotations

import shlex

from horovod.runner.common.util.env import is_kubeflow_mpi
from horovod.runner.util.remote import get_remote_command

KEY_CHANGED = "REMOTE HOST IDENTIFICATION HAS CHANGED"
_NO_PYTHON = "horovodrun needs Python on this host"  # bundle.py

# What is said, and what helps; the first that fits counts.
_ADVICE = (
    (
        KEY_CHANGED,
        "its host key is not the one in known_hosts. If it was installed anew, forget the old key "
        "with ssh-keygen -R {known}; if not, find out who answers in its place",
    ),
    (
        "Host key verification failed",
        "its host key is not in known_hosts, and ssh may not ask: log in once by hand and confirm "
        "the key, or add it with ssh-keyscan{dash_p} {host} >> ~/.ssh/known_hosts",
    ),
    (
        "Temporary failure in name resolution",
        "the name service does not answer: see /etc/resolv.conf, or write addresses instead of "
        "names in -H or the hostfile",
    ),
    (
        "Could not resolve hostname",
        "this machine knows no such name: correct it in -H or the hostfile, or tell DNS, "
        "/etc/hosts or ~/.ssh/config about it",
    ),
    (
        "Connection refused",
        "nothing listens on {port} there: start sshd on it, or give its port with --ssh-port",
    ),
    (
        "No route to host",
        "nobody answers at this address: is the host switched on, and is the address right?",
    ),
    (
        "Network is unreachable",
        "no network leads from this machine to it: see ip route, or give another of its addresses",
    ),
    (
        "timed out",
        "it does not answer: is it switched on, and does a firewall let {port} through?",
    ),
    (
        "Permission denied (",  # ssh adds which ways it has tried
        "it must let this user in without a password: ssh-copy-id{dash_p} {host}, or give the key "
        "that it knows with --ssh-identity-file",
    ),
    (
        _NO_PYTHON,
        "install python3 on it, or have shells that are not interactive find one in PATH "
        "(~/.bashrc, or SetEnv in its sshd_config)",
    ),
    (
        "Connection closed by",
        "its sshd hung up before the login: the log of sshd says why",
    ),
    (
        "Connection reset by",
        "its sshd hung up before the login: the log of sshd says why",
    ),
)


def by_hand(
    host: str, ssh_port: int | None, ssh_identity_file: str | None, command: str = "true"
) -> str:
    """The command that shows a user the same failure."""
    if is_kubeflow_mpi():
        return get_remote_command(command, host)
    words = ["ssh"]
    if ssh_port:
        words += ["-p", str(ssh_port)]
    if ssh_identity_file:
        words += ["-i", ssh_identity_file]
    return f"{shlex.join([*words, host])} {command}"


def advice(said: str, host: str, ssh_port: int | None, ssh_identity_file: str | None) -> str:
    """What to do, and how to try it; ends with a newline."""
    text = ""
    for fragment, what in _ADVICE:
        if fragment in said:
            places = {
                "host": host,
                "port": f"port {ssh_port}" if ssh_port else "its ssh port",
                "dash_p": f" -p {ssh_port}" if ssh_port else "",
                "known": f"'[{host}]:{ssh_port}'" if ssh_port else host,
            }
            text = f"What helps: {what.format(**places)}\n"
            break
    command = "command -v python3" if _NO_PYTHON in said else "true"
    return text + f"Try it by hand: {by_hand(host, ssh_port, ssh_identity_file, command)}\n"


def key_warning(said: str, host: str, ssh_port: int | None) -> str | None:
    """For a host that was reached although its key is another one; None if it is not."""
    if KEY_CHANGED not in said:
        return None
    known = f"'[{host}]:{ssh_port}'" if ssh_port else host
    return (
        f"horovodrun: warning: the host key of {host} is not the one in known_hosts, and ssh was "
        "told to go on (StrictHostKeyChecking=no). If it was installed anew, forget the old key "
        f"with ssh-keygen -R {known}; if not, find out who answers in its place"
    )
