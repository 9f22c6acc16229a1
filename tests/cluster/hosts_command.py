"""Runs a command as a job of horovodrun on hosts that this makes: network namespaces.

    python tests/cluster/hosts_command.py --hosts 4 --ranks 2 --rate 1gbit hvdx-bench --max 16M

After `--`, options of horovodrun may come before the command. Needs root, and horovodrun on the
path. What the job prints is passed on; the exit code is its.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from ssh_hosts import INTERFACE, SshHosts, why_not  # noqa: E402


def job(hosts: SshHosts, ranks: int, command: list[str]) -> list[str]:
    """horovodrun with `ranks` on each of the hosts."""
    return [
        "horovodrun", "-np", str(hosts.count * ranks), *hosts.ssh_options(),
        "-H", hosts.slots(ranks), "--network-interfaces", INTERFACE, *command,
    ]  # fmt: skip


def leave_when_told() -> None:
    """A SIGTERM ends this program as an error would: the hosts go, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=2, help="how many (2)")
    parser.add_argument("--ranks", type=int, default=1, help="on each host (1)")
    parser.add_argument("--rate", help="of each link, as tc has it: 100mbit, 1gbit; else unshaped")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("which command?")
    if reason := why_not():
        print(f"hosts_command: {reason}", file=sys.stderr)
        return 2
    leave_when_told()
    with SshHosts(options.hosts, options.rate) as hosts:
        words = hosts.inside(0, job(hosts, options.ranks, command))
        return subprocess.run(words, env=hosts.env(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
