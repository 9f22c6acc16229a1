"""Launching without MPI, by function: for launchers that build on ours."""

from __future__ import annotations

import shlex
import signal
import threading
from typing import Any, Callable, Iterable, Mapping, MutableMapping, NoReturn

from horovod.runner.common.util.hosts import SlotInfo, get_host_assignments, parse_hosts
from horovod.runner.common.util.settings import Settings
from horovod.runner.driver import worker_env
from horovod.runner.driver.failure import Exit, failure_message
from horovod.runner.driver.launch_job import Job, launch_job
from horovod.runner.util.threads import in_thread

ExecCommand = Callable[[str, SlotInfo, "list[threading.Event]"], Any]


class MultiFile:
    """A file that writes to several."""

    def __init__(self, files: Iterable[Any]) -> None:
        self._files = list(files)

    def write(self, text: str) -> None:
        """Writes to all."""
        for file in self._files:
            file.write(text)

    def flush(self) -> None:
        """Flushes all."""
        for file in self._files:
            file.flush()


def create_slot_env_vars(slot_info: SlotInfo) -> dict[str, str]:
    """Variables that tell a worker who it is."""
    return worker_env.slot_env(slot_info)


def create_run_env_vars(
    server_ip: str, nics: Iterable[str], port: int, elastic: bool = False
) -> dict[str, str]:
    """Variables that tell a worker how to find the others; its secret is not among them."""
    return worker_env.run_env(server_ip, port, nics, elastic)


def get_run_command(
    command: str, server_ip: str, nics: Iterable[str], port: int, elastic: bool = False
) -> str:
    """A shell command with the variables of create_run_env_vars() before it."""
    env = create_run_env_vars(server_ip, nics, port, elastic)
    return " ".join([*(f"{k}={shlex.quote(v)}" for k, v in env.items()), command])


def register_shutdown_event() -> threading.Event:
    """An event that SIGINT and SIGTERM set."""
    event = threading.Event()

    def handle(number: int, frame: Any) -> None:
        event.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)
    return event


def gloo_run(
    settings: Settings,
    nics: Iterable[str] | None,
    env: Mapping[str, str],
    server_ip: str | None,
    command: str | list[str],
) -> None:
    """Runs a command, or a line for a shell, on all ranks; raises if one fails."""
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    if nics:
        settings.nics = nics
    launch_job(Job(settings, words, env, server_ip=server_ip))


def launch_gloo(
    command: str,
    exec_command: ExecCommand,
    settings: Settings,
    nics: Iterable[str],
    env: MutableMapping[str, str],
    server_ip: str,
) -> None:
    """Calls `exec_command(line, slot, events)` in a thread for each rank.

    It must run `line` by a shell where `slot` says, end it when one of `events` is set, and return
    the exit code. The job's secret is in `env` and in os.environ and must reach the workers.
    """
    from horovod.runner.http.http_server import RendezvousServer

    slots = get_host_assignments(
        parse_hosts(settings.hosts or f"localhost:{settings.num_proc}"),
        settings.num_proc,
        settings.num_proc,
    )
    rendezvous = RendezvousServer(settings.verbose)
    port = rendezvous.start(address=server_ip)
    rendezvous.init(slots)
    env.update(rendezvous.env())
    run_command = get_run_command(command, server_ip, nics, port)
    try:
        _call_for_each(slots, exec_command, run_command)
    finally:
        rendezvous.stop()


def _call_for_each(slots: list[SlotInfo], exec_command: ExecCommand, command: str) -> None:
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = [(n, signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGTERM)]
    interrupted = register_shutdown_event() if in_main_thread else threading.Event()
    failed = threading.Event()
    failures: list[Exit] = []

    def call(slot: SlotInfo) -> None:
        env = create_slot_env_vars(slot)
        env["PYTHONUNBUFFERED"] = "1"
        line = " ".join([*(f"{k}={shlex.quote(v)}" for k, v in env.items()), command])
        result = exec_command(line, slot, [interrupted, failed])
        code = int(result[0] if isinstance(result, tuple) else result or 0)
        if code != 0:
            print(f"Process {slot.rank} exit with status code {code}.", flush=True)
            failures.append(Exit(slot, code << 8 if code < 128 else code - 128))
            failed.set()

    threads = [in_thread(call, (slot,)) for slot in slots]
    for thread in threads:
        thread.join()
    if in_main_thread:
        for number, handler in before:
            signal.signal(number, handler)
    if failures:
        raise RuntimeError(failure_message(failures[0], []))


def gloo_run_elastic(
    settings: Any, env: Mapping[str, str], command_or_func: Any, executable: str | None = None
) -> NoReturn:
    """Would run a job whose hosts come and go."""
    raise NotImplementedError("Elastic training is not available yet")


def launch_gloo_elastic(*args: Any, **kwargs: Any) -> NoReturn:
    """Would run a job whose hosts come and go."""
    raise NotImplementedError("Elastic training is not available yet")
