"""Commands that end when they should: with their caller, or when an event is set."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any, Iterable, Mapping

from horovod.runner.agent import frames, process_tree
from horovod.runner.agent.frames import start_content
from horovod.runner.common.util.hosts import INVALID_SLOT_INFO
from horovod.runner.driver.bundle import local_agent_command
from horovod.runner.driver.failure import Exit
from horovod.runner.driver.link import Link
from horovod.runner.driver.prefix import LinePrefixer, stream_prefix
from horovod.runner.driver.switchboard import Switchboard

GRACEFUL_TERMINATION_TIME_S = 5
_EVENT_INTERVAL_S = 0.1


def terminate_executor_shell_and_children(pid: int) -> None:
    """Ends a process and everything below it: SIGTERM, five seconds, SIGKILL."""
    doomed = [*process_tree.descendants(pid), pid]
    process_tree.signal_all(doomed, signal.SIGTERM)
    deadline = time.monotonic() + GRACEFUL_TERMINATION_TIME_S
    while time.monotonic() < deadline and any(_alive(p) for p in doomed):
        time.sleep(0.05)
    process_tree.signal_all([*process_tree.descendants(pid), *doomed], signal.SIGKILL)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def _start_of(prefix: str, index: Any) -> str:
    return stream_prefix(index, prefix) if index is not None else ""


def prefix_connection(
    src_connection: Any,
    dst_stream: Any,
    prefix: str,
    index: Any,
    prefix_output_with_timestamp: bool,
) -> None:
    """Copies lines of a pipe to a stream until its end, each with `[index]<prefix>:` in front."""
    prefixer = LinePrefixer(_start_of(prefix, index), prefix_output_with_timestamp)
    fd = src_connection if isinstance(src_connection, int) else src_connection.fileno()
    while True:
        try:
            data = os.read(fd, frames.PIECE)
        except OSError:
            data = b""
        text = prefixer.feed(data) if data else prefixer.finish()
        dst_stream.write(text)
        dst_stream.flush()
        if not data:
            return


class _Streams:
    """Where the output of a command goes, and how it ended."""

    def __init__(self, streams: dict[str, Any], index: Any, with_timestamp: bool) -> None:
        self.status: int | None = None
        self._of = {
            kind: (LinePrefixer(_start_of(name, index), with_timestamp), streams[name])
            for kind, name in ((frames.STDOUT, "stdout"), (frames.STDERR, "stderr"))
        }

    def hear(self, _: Link, frame: frames.Frame) -> None:
        """Takes what the agent says."""
        kind, _index, content = frame
        if kind in self._of:
            prefixer, stream = self._of[kind]
            stream.write(prefixer.feed(content) if content else prefixer.finish())
            stream.flush()
        elif kind == frames.EXITED:
            self.status = int(content)


def execute(
    command: str | list[str],
    env: Mapping[str, str] | None = None,
    stdout: Any = None,
    stderr: Any = None,
    index: Any = None,
    events: Iterable[threading.Event] | None = None,
    prefix_output_with_timestamp: bool = False,
) -> int:
    """Runs a shell command in a session of its own; its exit code, 128 + n for signal n.

    It is ended when one of `events` is set, and when this process ends in whatever way. Output goes
    to the streams given, or to ours; with an index, lines are prefixed.
    """
    own = {"stdout": stdout or sys.stdout, "stderr": stderr or sys.stderr}
    streams = _Streams(own, index, prefix_output_with_timestamp)
    board = Switchboard()
    try:
        link = _start(board, command, env)
        _wait(board, link, streams, list(events or []))
    finally:
        board.close(GRACEFUL_TERMINATION_TIME_S + 2.0, streams.hear)
    if streams.status is None:
        raise RuntimeError(f"the agent of a command ended: {link.complaints()}")
    return Exit(INVALID_SLOT_INFO, streams.status).code


def _start(board: Switchboard, command: str | list[str], env: Mapping[str, str] | None) -> Link:
    link = Link("localhost", local_agent_command(), True, env)
    board.add(link)
    while not link.greeted and not link.closed:
        for _ in board.turn(None):
            pass
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    link.say(frames.START, 0, start_content(os.getcwd(), False, words, []))
    return link


def _wait(board: Switchboard, link: Link, streams: _Streams, events: list[threading.Event]) -> None:
    while streams.status is None and not link.closed:
        for some_link, frame in board.turn(_EVENT_INTERVAL_S if events else None):
            streams.hear(some_link, frame)
        if any(event.is_set() for event in events):
            events = []
            link.say(frames.TERMINATE, 0, b"%d" % GRACEFUL_TERMINATION_TIME_S)
