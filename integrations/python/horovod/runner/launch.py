"""horovodrun: reads the command line and runs the job."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any, Iterable, NoReturn

from horovod.runner import arguments
from horovod.runner.controllers import is_gloo_used, run_controller
from horovod.runner.util.cache import use_cache
from horovod.runner.util.lsf import LSFUtils

CACHE_FOLDER = os.path.join(os.path.expanduser("~"), ".horovod")
CACHE_STALENESS_THRESHOLD_MINUTES = 60
SSH_ATTEMPTS = 5
SSH_CONNECT_TIMEOUT_S = 10

__all__ = [
    "check_build",
    "is_gloo_used",
    "parse_args",
    "run_commandline",
    "run_controller",
]


def parse_args() -> Any:
    """The options in sys.argv; with --check-build it answers that and exits."""
    args = arguments.parse()
    if args.check_build:
        check_build(args.verbose)
    return args


def check_build(verbose: bool) -> NoReturn:
    """Prints what this installation can do, and exits."""
    from horovod.runner.build_report import build_report

    print(build_report(verbose), end="")
    sys.exit(0)


def run_commandline() -> None:
    """The command horovodrun."""
    sys.excepthook = _tell
    args = parse_args()
    if args.log_level:
        _set_log_level(args.log_level)
    if args.verbose:
        sys.excepthook = sys.__excepthook__
    _run(args)


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What went wrong, without where in our code; --verbose shows that, too."""
    if issubclass(kind, KeyboardInterrupt):
        _die_of_interrupt()
    if issubclass(kind, (ValueError, RuntimeError, OSError)) or kind.__module__.startswith(
        "horovod"
    ):
        print(f"horovodrun: {kind.__name__}: {error}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def _die_of_interrupt() -> None:
    """As the shell expects it of a program that Ctrl-C has ended."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)


def _set_log_level(name: str) -> None:
    import logging

    logging.basicConfig()
    level = 0 if name == "TRACE" else getattr(logging, name)
    logging.getLogger().setLevel(level)


def _run(args: Any) -> list[Any] | None:
    """Runs what `args` say: results by rank for a function, None for a command."""
    if args.host_discovery_script or args.min_num_proc is not None:
        return _run_elastic(args)
    return _run_static(args)


def _run_elastic(args: Any) -> NoReturn:
    """Jobs whose hosts come and go."""
    raise NotImplementedError(
        "Elastic training is not available yet: leave out --host-discovery-script and --min-np"
    )


def _run_static(args: Any) -> list[Any] | None:
    """A job with fixed hosts."""
    from horovod.runner.mpi_job import run_command_by_mpi, run_function_by_mpi
    from horovod.runner.static_run import run_command, run_function

    _complete(args)
    env = _job_env(args)
    results: list[list[Any] | None] = []

    def gloo() -> None:
        if args.run_func is None:
            run_command(args, env)
        else:
            results.append(run_function(args, env))

    def mpi() -> None:
        if args.run_func is None:
            run_command_by_mpi(args, env)
        else:
            results.append(run_function_by_mpi(args, env))

    run_controller(
        args.use_gloo,
        gloo,
        args.use_mpi,
        mpi,
        args.use_jsrun,
        _refuse_jsrun,
        2 if args.verbose else 0,
    )
    return results[0] if results else None


def _refuse_jsrun() -> None:
    from horovod.runner.js_run import js_run

    js_run(None, None, {}, None)


def _complete(args: Any) -> None:
    """Fills in hosts and the number of processes."""
    from horovod.runner.common.util.hosts import parse_host_files

    if args.hostfile:
        args.hosts = parse_host_files(args.hostfile)
    elif not args.hosts and LSFUtils.using_lsf():
        hosts = LSFUtils.get_host_slots()
        args.hosts = ",".join(f"{name}:{slots}" for name, slots in hosts)
        args.num_proc = args.num_proc or sum(slots for _, slots in hosts)
    elif not args.hosts:
        args.hosts = f"localhost:{args.num_proc}"


def _job_env(args: Any) -> dict[str, str]:
    from horovod.runner.common.util import config_parser

    env = dict(os.environ)
    config_parser.set_env_from_args(env, args)
    return env


@use_cache()
def _check_all_hosts_ssh_successful(
    host_addresses: Iterable[str],
    ssh_port: int | None = None,
    ssh_identity_file: str | None = None,
) -> bool:
    """Runs `true` on all hosts; tells which ones refuse, and raises RuntimeError if one does."""
    from horovod.runner.common.util import tiny_shell_exec
    from horovod.runner.util.remote import get_remote_command
    from horovod.runner.util.threads import execute_function_multithreaded

    hosts = list(host_addresses)

    def check(host: str) -> tuple[int, str]:
        command = get_remote_command(
            "true", host, ssh_port, ssh_identity_file, SSH_CONNECT_TIMEOUT_S
        )
        said = "ssh could not be started"
        for _ in range(SSH_ATTEMPTS):
            result = tiny_shell_exec.execute(command)
            if result is not None:
                said, code = result
                if code == 0:
                    return 0, said
        return 1, said

    answers = execute_function_multithreaded(check, [[host] for host in hosts]) or {}
    failed = [(host, answers[i][1]) for i, host in enumerate(hosts) if answers[i][0] != 0]
    for host, said in failed:
        print(f"ssh not successful for host {host}:\n{said}", file=sys.stderr)
    if failed:
        names = ", ".join(host for host, _ in failed)
        raise RuntimeError(f"could not connect to some hosts via ssh: {names}")
    return True


if __name__ == "__main__":
    run_commandline()
