"""How the ranks of a drill are started: by horovodrun or by mpirun, here or on two hosts."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from matrix import Cell

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # support/

from support.ssh_hosts import INTERFACE, SshHosts  # noqa: E402

_RANK = [sys.executable, str(HERE / "rank.py")]
_MPIRUN = {"mpi_yield_when_idle": "1"}
# Links by shared memory, so that no port but ours is open in a rank.
_ON_ONE_HOST = {"btl": "self,vader"}
_WITHOUT_MEMORY = {"btl": "self,tcp", "btl_tcp_if_include": "lo"}
# A host that is gone is noticed after some seconds, not after two hours.
_BETWEEN_HOSTS = {
    "btl": "self,tcp",
    "btl_tcp_if_include": INTERFACE,
    "oob_tcp_if_include": INTERFACE,
    "oob_tcp_keepalive_time": "2",
    "oob_tcp_keepalive_intvl": "1",
    "oob_tcp_keepalive_probes": "3",
}
# Open MPI wants hosts to have names of their own, which namespaces do not: each gets one here.
_AGENT = r"""#!/usr/bin/env bash
host=$1; shift
command=$(printf %q "hostname drill-${{host##*.}}; exec $*")
exec {ssh} -p {port} -i {key} -o StrictHostKeyChecking=no "$host" "unshare --uts bash -c $command"
"""


def horovodrun_path() -> str:
    """The command that belongs to this interpreter."""
    beside = Path(sys.executable).with_name("horovodrun")
    return str(beside) if beside.exists() else str(shutil.which("horovodrun"))


def command(cell: Cell, hosts: SshHosts | None, passed_on: list[str]) -> list[str]:
    """The command line; `passed_on`: variables that ranks on other hosts need."""
    if cell.by_mpirun:
        return _by_mpirun(cell, hosts, passed_on)
    words = [horovodrun_path(), "-np", str(cell.size)]
    if hosts:
        words += [*hosts.ssh_options(), "-H", _slots(cell, hosts), "--disable-cache"]
        words += ["--start-timeout", "8" if cell.moment == "launch" else "30"]
    return [*words, *_RANK]


def _slots(cell: Cell, hosts: SshHosts) -> str:
    """All on the first host, but for the last rank."""
    return f"{hosts.address(0)}:{cell.size - 1},{hosts.address(1)}:1"


def _by_mpirun(cell: Cell, hosts: SshHosts | None, passed_on: list[str]) -> list[str]:
    settings = {**_MPIRUN, **(_WITHOUT_MEMORY if cell.lacks_memory else _ON_ONE_HOST)}
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    if hosts:
        settings = {**_MPIRUN, **_BETWEEN_HOSTS, "plm_rsh_agent": _agent(hosts)}
        words += ["-H", _slots(cell, hosts)]
        words += [word for name in passed_on for word in ("-x", name)]
    words += [word for name, value in settings.items() for word in ("--mca", name, value)]
    words += ["-np", str(cell.size), *_RANK]
    if not hosts:
        return words
    return ["unshare", "--uts", "sh", "-c", 'hostname drill-1 && exec "$@"', "sh", *words]


def _agent(hosts: SshHosts) -> str:
    port = hosts.ssh_options()[1]
    path = Path(hosts.folder, "agent")
    path.write_text(_AGENT.format(ssh=f"{hosts.folder}/bin/ssh", port=port, key=hosts.key))
    path.chmod(0o755)
    return str(path)
