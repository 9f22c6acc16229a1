"""The command line of horovodrun."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Callable, NoReturn

from horovod.runner.common.util import config_parser
from horovod.runner.util.lsf import LSFUtils

_DESCRIPTION = """\
Runs a command as a distributed job: one process for each rank, on this machine or on several.
Everything from the first word that is not an option is the command."""

_EXAMPLES = """\
examples:
  horovodrun -np 4 python train.py                     four processes on this machine
  horovodrun -np 8 -H a:4,b:4 python train.py          on two hosts, over ssh without a password
  horovodrun -np 8 --hostfile hosts python train.py    hosts from a file: lines 'name slots=4'
  horovodrun --check-build                             what this installation can do

Exactly -np processes are started, also where hosts have more slots. An option that is not given
leaves the HOROVOD_* variable of that setting as it is in the environment. The workers' lines are
prefixed by [rank]<stdout>: or [rank]<stderr>:. If one worker fails, all are ended, and the error
names its rank, host, exit code and last lines."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\nhorovodrun --help lists all options.\n")


def _switch(group: Any, dest: str, on: list[str], off: list[str], text: str, **how: Any) -> None:
    """Options for True and False, None if neither is given; the `hidden` one is not in --help."""
    hidden = how.get("hidden", "")
    shown = {"on": text, "off": how.get("off_text", "the opposite")}
    for value, names in (("on", on), ("off", off)):
        help_text = argparse.SUPPRESS if value in hidden else shown[value]
        group.add_argument(
            *names, dest=dest, action="store_const", const=value == "on", default=None,
            help=help_text,
        )  # fmt: skip


def _add_general(parser: argparse.ArgumentParser) -> None:
    from horovod import __version__

    parser.add_argument("-v", "--version", action="version", version=__version__)
    parser.add_argument(
        "-np", "--num-proc", dest="num_proc", type=int, metavar="N",
        help="number of processes; needed except in LSF jobs and with --check-build",
    )  # fmt: skip
    parser.add_argument(
        "-cb", "--check-build", action="store_true",
        help="show which frameworks and libraries are available, and exit",
    )  # fmt: skip
    parser.add_argument(
        "--disable-cache", action="store_true",
        help="test networks again instead of using what was found in the last 60 minutes",
    )  # fmt: skip
    parser.add_argument(
        "--start-timeout", type=int, metavar="SECONDS",
        help="time for all checks and for starting all processes "
        "(default: HOROVOD_START_TIMEOUT, else 30)",
    )  # fmt: skip
    parser.add_argument(
        "--network-interfaces", dest="network_interfaces", action="append", metavar="A,B",
        help="network interfaces to use, trusted without a test; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--network-interface", dest="network_interface", action="append", metavar="A",
        help="the same, one each time",
    )  # fmt: skip
    parser.add_argument(
        "--output-filename", metavar="DIR",
        help="also write the output of each rank to DIR/rank.<rank>/stdout and stderr",
    )  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="print what is checked and started")
    parser.add_argument(
        "--config-file", metavar="FILE", help="YAML file with settings; options override it"
    )


def _add_ssh(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("ssh")
    group.add_argument("-p", "--ssh-port", type=int, metavar="PORT", help="port on all hosts")
    group.add_argument("-i", "--ssh-identity-file", metavar="FILE", help="private key")


def _add_tuneable(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tuneable parameters")
    group.add_argument(
        "--fusion-threshold-mb", type=int, metavar="MIB",
        help="tensors travel together up to this size; 0: each by itself (default 128)",
    )  # fmt: skip
    group.add_argument(
        "--cycle-time-ms", type=float, metavar="MS", help="time to wait for more tensors"
    )
    group.add_argument(
        "--cache-capacity", type=int, metavar="N",
        help="tensors remembered by number; 0: none (default 1024)",
    )  # fmt: skip
    for name, text in (
        ("hierarchical-allreduce", "reduce inside hosts first, then between them"),
        ("hierarchical-allgather", "gather inside hosts first, then between them"),
        ("torus-allreduce", "reduce along rows, then columns of hosts"),
    ):
        off_text = "never do so, autotuning included"
        _switch(
            group, name.replace("-", "_"), [f"--{name}"], [f"--no-{name}"], text, off_text=off_text
        )


def _add_autotune(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("autotune")
    _switch(
        group, "autotune", ["--autotune"], ["--no-autotune"],
        "search for the best settings while training", hidden="off",
    )  # fmt: skip
    group.add_argument("--autotune-log-file", metavar="FILE", help="CSV file of what was tried")
    for name, kind, text in (
        ("warmup-samples", int, "scores thrown away first (default 3)"),
        ("steps-per-sample", int, "steps in a score (default 10)"),
        ("bayes-opt-max-samples", int, "settings tried at most (default 20)"),
        ("gaussian-process-noise", float, "noise assumed in scores, 0 to 1 (default 0.8)"),
    ):
        metavar = "N" if kind is int else "X"
        group.add_argument(f"--autotune-{name}", type=kind, metavar=metavar, help=text)


def _add_elastic(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("elastic (not available yet)")
    for names, dest, text in (
        (("--min-np", "--min-num-proc"), "min_num_proc", "fewest processes to go on with"),
        (("--max-np", "--max-num-proc"), "max_num_proc", "most processes to use"),
        (("--slots-per-host",), "slots", "slots where the discovery script tells none"),
        (("--elastic-timeout",), "elastic_timeout", "seconds to wait for enough slots"),
        (("--reset-limit",), "reset_limit", "how often the job may start over"),
    ):
        group.add_argument(*names, dest=dest, type=int, metavar="N", help=text)
    group.add_argument(
        "--blacklist-cooldown-range", dest="cooldown_range", type=int, nargs=2,
        metavar=("MIN", "MAX"), help="seconds until a failing host may come back",
    )  # fmt: skip


def _add_diagnostics(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("timeline")
    group.add_argument("--timeline-filename", metavar="FILE", help="trace of rank 0, JSON")
    _switch(
        group, "timeline_mark_cycles", ["--timeline-mark-cycles"], ["--no-timeline-mark-cycles"],
        "mark each turn of the engine in it", hidden="off",
    )  # fmt: skip
    group = parser.add_argument_group("stall check")
    _switch(
        group, "no_stall_check", ["--no-stall-check"], ["--stall-check"],
        "no warnings about ranks that lag behind", hidden="off",
    )  # fmt: skip
    group.add_argument(
        "--stall-check-warning-time-seconds", type=int, metavar="S", help="default 60"
    )
    group.add_argument(
        "--stall-check-shutdown-time-seconds", type=int, metavar="S",
        help="end the job then; 0: never (default)",
    )  # fmt: skip


def _add_library(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("library options")
    _switch(
        group, "mpi_threads_disable", ["--mpi-threads-disable"], ["--no-mpi-threads-disable"],
        "no threads in MPI", hidden="off",
    )  # fmt: skip
    group.add_argument("--mpi-args", metavar="WORDS", help="for mpirun; write --mpi-args='...'")
    group.add_argument("--tcp", dest="tcp_flag", action="store_true", default=None, help="TCP only")
    group.add_argument("--binding-args", metavar="WORDS", help="process binding of mpirun")
    group.add_argument("--num-nccl-streams", type=int, metavar="N", help="streams of NCCL")
    group.add_argument("--thread-affinity", type=int, metavar="CORE", help="of the engine thread")
    group.add_argument(
        "--gloo-timeout-seconds", type=int, metavar="S",
        help="time to connect, and longest silence of a peer (default 30)",
    )  # fmt: skip


def _add_logging(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("logging")
    group.add_argument(
        "--log-level", choices=config_parser.LOG_LEVELS, help="of the engine, and of horovodrun"
    )
    stamps = group.add_mutually_exclusive_group()
    _switch(
        stamps, "log_with_timestamp", ["--log-with-timestamp"], ["--log-without-timestamp"], "",
        hidden="on", off_text="no time in log lines of the engine",
    )  # fmt: skip
    _switch(  # their old names
        stamps, "log_with_timestamp", ["--no-log-hide-timestamp"], ["--log-hide-timestamp"], "",
        hidden="on off",
    )  # fmt: skip
    stamps.add_argument(
        "-prefix-timestamp", "--prefix-output-with-timestamp", action="store_true",
        dest="prefix_output_with_timestamp", help="the time before each forwarded line",
    )  # fmt: skip


def _add_hosts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("hosts").add_mutually_exclusive_group()
    group.add_argument(
        "-H", "--hosts", metavar="A:2,B:4",
        help="hosts and their slots (default: localhost with -np slots)",
    )  # fmt: skip
    group.add_argument(
        "-hostfile", "--hostfile", metavar="FILE", help="the same in a file: lines 'name slots=2'"
    )
    group.add_argument("--host-discovery-script", metavar="COMMAND", help="elastic jobs only")


def _add_controller(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("controller").add_mutually_exclusive_group()
    for name, text in (
        ("gloo", "start processes directly or over ssh (default)"),
        ("mpi", "mpirun; not in this build"),
        ("jsrun", "jsrun; not in this build"),
    ):
        group.add_argument(
            f"--{name}", dest=f"use_{name}", action="store_true", default=None, help=text
        )


_GROUPS: tuple[Callable[[argparse.ArgumentParser], None], ...] = (
    _add_general,
    _add_hosts,
    _add_ssh,
    _add_logging,
    _add_tuneable,
    _add_autotune,
    _add_diagnostics,
    _add_library,
    _add_elastic,
    _add_controller,
)


def build_parser() -> argparse.ArgumentParser:
    """horovodrun's options, grouped."""
    parser = _Parser(
        prog="horovodrun",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="horovodrun -np N [options] command [argument ...]",
    )
    for add in _GROUPS:
        add(parser)
    return parser


def _begin_of_command(parser: argparse.ArgumentParser, words: list[str]) -> int:
    """Where the first word stands that is neither an option nor an option's value.

    argparse's REMAINDER does not do: it looks at the command's words too and complains of those
    that look like an abbreviation of ours.
    """
    values = {
        name: 1 if action.nargs is None else int(action.nargs)
        for action in parser._actions  # noqa: SLF001 (there is no public way)
        for name in action.option_strings
    }
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        name, equals, _ = words[at].partition("=")
        long = [full for full in values if name.startswith("--") and full.startswith(name)]
        known = [name] if name in values else long
        at += 1 + (values[known[0]] if known and not equals else 0)
    return min(at, len(words))


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Parsed options, merged with the config file and judged."""
    parser = build_parser()
    words = sys.argv[1:] if argv is None else argv
    begin = _begin_of_command(parser, words)
    args = parser.parse_args(words[:begin])
    args.command = words[begin:]
    if args.command[:1] == ["--"]:
        del args.command[0]
    args.run_func = args.executable = None
    args.nics = _nics(args)
    if args.config_file:
        config = _config(parser, args.config_file)
        config_parser.set_args_from_config(args, config, config_parser.explicit_args(args))
    config_parser.validate_config_args(args)
    if not args.check_build:
        _require(parser, args)
    return args


def _config(parser: argparse.ArgumentParser, path: str) -> dict[str, Any]:
    try:
        return config_parser.read_config(path)
    except OSError as error:
        parser.error(f"cannot read the config file: {error}")


def _require(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    elastic = args.host_discovery_script or args.min_num_proc is not None
    if args.num_proc is None and not LSFUtils.using_lsf() and not elastic:
        parser.error("the number of processes is missing: -np N")
    if args.num_proc is not None and args.num_proc < 1:
        parser.error(f"-np {args.num_proc}: at least one process is needed")
    if not args.command:
        parser.error("the command to run is missing")
    if args.hostfile and not os.path.exists(args.hostfile):
        parser.error(f"--hostfile {args.hostfile}: there is no such file")


def _nics(args: argparse.Namespace) -> list[str] | None:
    """The union of both options, in the order given."""
    for value in args.network_interface or []:
        if "," in value:
            import warnings

            warnings.warn(
                "--network-interface with a comma is deprecated: use --network-interfaces, or "
                "repeat --network-interface",
                DeprecationWarning,
                stacklevel=2,
            )
    given = [*(args.network_interfaces or []), *(args.network_interface or [])]
    names = [name.strip() for value in given for name in value.split(",") if name.strip()]
    return list(dict.fromkeys(names)) or None
