"""Allreduce between hosts against gloo and MPI, all three in the same processes, in turns.

    python tests/cluster/peers.py --hosts 4 --ranks 1 --rate 1gbit [--rounds 3] [--strict]

Ranks are started by mpirun on hosts that this makes; HorovodX runs over its own TCP. The limit is
what plain TCP would need for the bytes of a ring. 4 B to 32 MiB, each four times the one before;
a size is the median of 15 turns a round, and of the rounds. Then the bars (peers_bars.py), for
links with a limit. Needs root, Open MPI, mpi4py, PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from cells_bars import all_held  # noqa: E402
from hosts_command import INTERFACE, SshHosts, leave_when_told, why_not  # noqa: E402
from peers_bars import GLOO, MPI, OURS, judge, limit, merged  # noqa: E402
from plain_tcp import bytes_per_second  # noqa: E402

# Open MPI wants hosts to have names of their own, which namespaces do not: each gets one here.
_AGENT = r"""#!/usr/bin/env bash
host=$1; shift
command=$(printf %q "hostname hvdx-${{host##*.}}; exec $*")
exec {ssh} -p {port} -i {key} -o StrictHostKeyChecking=no "$host" "unshare --uts bash -c $command"
"""


def _agent(hosts: SshHosts) -> str:
    options = hosts.ssh_options()
    text = _AGENT.format(ssh=f"{hosts.folder}/bin/ssh", port=options[1], key=hosts.key)
    path = Path(hosts.folder) / "agent"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def _mpirun(hosts: SshHosts, ranks: int, command: list[str]) -> list[str]:
    settings = {
        "plm_rsh_agent": _agent(hosts),
        "btl_tcp_if_include": INTERFACE,
        "oob_tcp_if_include": INTERFACE,
        "mpi_yield_when_idle": "1",
    }
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    words += [word for name, value in settings.items() for word in ("--mca", name, value)]
    for name in ("HVDX_BENCH_IS_RANK", "OMP_NUM_THREADS", "HOROVOD_CPU_OPERATIONS",
                 "HOROVOD_GLOO_IFACE", "PATH"):  # fmt: skip
        words += ["-x", name]
    words += ["-np", str(hosts.count * ranks), "-H", hosts.slots(ranks), *command]
    return ["unshare", "--uts", "sh", "-c", 'hostname hvdx-first && exec "$@"', "renamed", *words]


def measure(hosts: SshHosts, ranks: int, least: int, most: int) -> dict[str, Any]:
    """What each size took, and the speed of plain TCP."""
    tcp = bytes_per_second(hosts, 200)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        bench = [sys.executable, "-m", "horovodx.torch_bench", "allreduce"]
        bench += ["--min", str(least), "--max", str(most), "--factor", "4"]
        words = _mpirun(hosts, ranks, [*bench, "--json", file.name])
        env = {
            **hosts.env(),
            "HVDX_BENCH_IS_RANK": "1",
            "OMP_NUM_THREADS": "1",
            "HOROVOD_CPU_OPERATIONS": "gloo",
            "HOROVOD_GLOO_IFACE": INTERFACE,
        }
        subprocess.run(hosts.inside(0, words), env=env, check=True, timeout=3600)
        return {"tcp": tcp, **json.loads(Path(file.name).read_text())}


def table(found: dict[str, Any], hosts: int) -> list[str]:
    """Milliseconds, our time against the better of the others, and the link's limit reached."""
    lines = ["| bytes | HorovodX | gloo | MPI | to the best | limit | reached |", "|---" * 7 + "|"]
    for row in found["seconds"]:
        ours, gloo, mpi = (row[name] for name in (OURS, GLOO, MPI))
        least = limit(found, hosts, row)
        times = " | ".join(f"{1e3 * t:,.3f}" for t in (ours, gloo, mpi))
        best = ours / min(gloo, mpi)
        tail = f"{best:.2f} | {1e3 * least:,.3f} | {least / ours:.0%}"
        lines.append(f"| {row['bytes']:,} | {times} | {tail} |")
    return lines


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=4, help="how many (4)")
    parser.add_argument("--ranks", type=int, default=1, help="on each host (1)")
    parser.add_argument("--rate", default="1gbit", help="of each link (1gbit); none: unshaped")
    parser.add_argument("--min", type=int, default=4, help="bytes (4)")
    parser.add_argument("--max", type=int, default=32 << 20, help="bytes (32 MiB)")
    parser.add_argument("--rounds", type=int, default=3, help="over all sizes (3)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is missed")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args()
    if reason := why_not():
        print(f"peers: {reason}", file=sys.stderr)
        return 2
    leave_when_told()
    with SshHosts(options.hosts, None if options.rate == "none" else options.rate) as hosts:
        sizes = options.min, options.max
        rounds = [measure(hosts, options.ranks, *sizes) for _ in range(options.rounds)]
    found = merged(rounds)
    print(f"plain TCP: {found['tcp'] / 1e6:.1f} MB/s; milliseconds")
    print("\n".join(table(found, options.hosts)))
    if options.json:
        options.json.write_text(json.dumps({**found, "rounds": rounds}, indent=1))
    if options.rate == "none":
        return 0  # no bars: here the machine is the limit, not the link
    bars = judge(found, options.hosts)
    print("\n".join(map(str, bars)))
    return 1 if options.strict and not all_held(bars) else 0


if __name__ == "__main__":
    sys.exit(main())
