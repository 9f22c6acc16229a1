"""Runs the ranks of a job: starts them, forwards what they write, and ends all if one fails."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import dataclass, field
from typing import Callable, Mapping, Sequence

from horovod.runner.agent import frames
from horovod.runner.agent.frames import Frame, start_content
from horovod.runner.common.util.hosts import SlotInfo
from horovod.runner.common.util.timeout import Timeout
from horovod.runner.driver.failure import Exit, failure_message
from horovod.runner.driver.interrupts import Interrupts, raise_again
from horovod.runner.driver.link import Link
from horovod.runner.driver.output import Outputs
from horovod.runner.driver.switchboard import Switchboard

GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL
_LAST_WORDS_SECONDS = 3.0  # beyond that, for the agents to tell
_GOODBYE_SECONDS = GRACE_SECONDS + 2.0  # for the agents to end what workers left behind


@dataclass
class Ranks:
    """What is to run, and where: words with variables in a directory, or a function."""

    slots: Sequence[SlotInfo]
    links: Mapping[str, Link]
    cwd: str
    words: list[str]
    env_of: Callable[[SlotInfo], list[str]]
    function: bytes | None = None
    results: dict[int, bytearray] = field(default_factory=dict)


class RankRunner:
    """One job, from start to the last exit. Owns nothing but its view of the ranks."""

    def __init__(self, board: Switchboard, ranks: Ranks, outputs: Outputs) -> None:
        self._board = board
        self._ranks = ranks
        self._outputs = outputs
        self._started: set[int] = set()
        self._exits: dict[int, Exit] = {}
        self._first: Exit | None = None
        self._interrupted: list[int] = []
        self._give_up_at: float | None = None

    def run(self, timeout: Timeout) -> None:
        """Returns when all ranks have exited with 0; raises if one has not."""
        with Interrupts() as interrupts:
            self._board.wake_by(interrupts.fd)
            try:
                self._start()
                while not self._done():
                    self._turn(interrupts, timeout)
            finally:
                self._board.no_wake()
                self._board.close(_GOODBYE_SECONDS, self._hear)
        if self._interrupted:
            raise_again(self._interrupted[0])
        if self._first is not None:
            raise RuntimeError(failure_message(self._first, self._outputs.tail(self._rank())))

    def _rank(self) -> int:
        assert self._first is not None
        return self._first.slot.rank

    def _start(self) -> None:
        self._send_function()
        for slot in self._ranks.slots:
            content = start_content(
                self._ranks.cwd,
                self._ranks.function is not None,
                self._ranks.words,
                self._ranks.env_of(slot),
            )
            self._ranks.links[slot.hostname].say(frames.START, slot.rank, content)

    def _send_function(self) -> None:
        """Once to each host, in pieces."""
        function = self._ranks.function or b""
        for link in set(self._ranks.links.values()):
            for start in range(0, len(function), frames.PIECE):
                link.say(frames.BLOB, 0, function[start : start + frames.PIECE])

    def _done(self) -> bool:
        if self._give_up_at is not None and time.monotonic() > self._give_up_at:
            return True
        return len(self._exits) == len(self._ranks.slots)

    def _turn(self, interrupts: Interrupts, timeout: Timeout) -> None:
        for link, frame in self._board.turn(self._patience(timeout)):
            self._hear(link, frame)
        self._look_for_lost_hosts()
        self._heed(interrupts)
        if len(self._started) < len(self._ranks.slots) and not self._give_up_at:
            missing = [s for s in self._ranks.slots if s.rank not in self._started]
            hosts = ", ".join(dict.fromkeys(s.hostname for s in missing))
            timeout.check_time_out_for(f"processes to start on {hosts}")

    def _patience(self, timeout: Timeout) -> float | None:
        if self._give_up_at is not None:
            return max(0.0, self._give_up_at - time.monotonic()) + 0.01
        if len(self._started) < len(self._ranks.slots):
            return timeout.remaining() + 0.01
        return None

    def _hear(self, _: Link, frame: Frame) -> None:
        kind, rank, content = frame
        if kind == frames.STDOUT:
            self._outputs.write(rank, "stdout", content)
        elif kind == frames.STDERR:
            self._outputs.write(rank, "stderr", content)
        elif kind == frames.RESULT:
            self._ranks.results.setdefault(rank, bytearray()).extend(content)
        elif kind == frames.STARTED:
            self._started.add(rank)
        elif kind == frames.EXITED:
            self._started.add(rank)
            self._exited(Exit(self._ranks.slots[rank], int(content)))

    def _exited(self, end: Exit) -> None:
        rank = end.slot.rank
        self._exits[rank] = end
        if end.code == 0 or self._give_up_at is not None:
            return
        print(f"Process {rank} exit with status code {end.code}.", flush=True)
        self._first = end
        if len(self._exits) < len(self._ranks.slots):
            text = f"Terminating remaining workers after failure of Process {rank}."
            print(text, file=sys.stderr, flush=True)
        self._terminate(GRACE_SECONDS)

    def _look_for_lost_hosts(self) -> None:
        for link in self._board.links:
            if not link.closed:
                continue
            for slot in self._ranks.slots:
                if self._ranks.links[slot.hostname] is link and slot.rank not in self._exits:
                    reason = link.complaints() or "the connection ended"
                    self._exited(Exit(slot, 0, lost=reason))

    def _heed(self, interrupts: Interrupts) -> None:
        interrupts.drain()
        for number in interrupts.numbers[len(self._interrupted) :]:
            again = bool(self._interrupted)
            self._interrupted.append(number)
            name = signal.Signals(number).name
            doing = "killing" if again else "terminating"
            print(f"horovodrun: {name}: {doing} all workers", file=sys.stderr, flush=True)
            self._terminate(0 if again else GRACE_SECONDS)

    def _terminate(self, grace: float) -> None:
        self._give_up_at = time.monotonic() + grace + _LAST_WORDS_SECONDS
        for link in self._board.links:
            link.say(frames.TERMINATE, 0, b"%g" % grace)
