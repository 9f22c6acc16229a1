"""The agent's loop: hears the launcher, starts workers, passes on output, reports ends."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time

from . import frames
from .frames import FrameParser, pack, pack_fields
from .interfaces import ipv4_interfaces
from .process_tree import adopt_orphans, descendants, die_with_parent, signal_all
from .worker import Worker

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Callable, Dict, List, NoReturn, Optional, Tuple

GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL
STRAGGLER_SECONDS = 1.0  # for what workers leave behind when they have ended
PIPE_PIECES = 17  # pieces in the fullest pipe
ENOUGH_UNSENT = 1 << 20  # bytes waiting for the launcher: workers wait, too


class Agent:
    """One job on one host. Everything happens on one thread, in run()."""

    def __init__(self) -> None:
        self._parser = FrameParser()
        self._unsent = bytearray()
        self._workers: Dict[int, Worker] = {}  # alive, by index
        self._pipes: Dict[int, int] = {}  # pipe of a worker: index
        self._kinds: Dict[int, bytes] = {}
        self._helpers: Dict[int, bytes] = {}  # pipe of a helper: what it has said so far
        self._function: Optional[int] = None
        self._listener: Optional[Tuple[int, int]] = None  # process and pipe
        self._hearing = True  # the launcher may say more
        self._heard = True  # the launcher listens
        self._term_at: Optional[float] = None
        self._kill_at: Optional[float] = None
        self._wake, wake_write = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)

    def run(self) -> None:
        """Until there is nothing more to hear, and no process left below."""
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        adopt_orphans()
        die_with_parent(signal.SIGTERM)
        os.set_blocking(0, False)
        os.set_blocking(1, False)
        self._unsent += frames.GREETING
        self._say(frames.HELLO, 0, self._introduction())
        while not self._done():
            self._turn()

    @staticmethod
    def _introduction() -> bytes:
        networks = [text for pair in ipv4_interfaces() for text in pair]
        version = "%d.%d.%d" % sys.version_info[:3]
        return pack_fields(os.uname().nodename, version, *networks)

    def _done(self) -> bool:
        if self._hearing or self._workers:
            return False
        if self._kill_at is not None and time.monotonic() > self._kill_at + GRACE_SECONDS:
            return True  # what survives SIGKILL hangs in the kernel
        if descendants(os.getpid()):
            return False
        for fd in list(self._pipes):
            self._drain(fd)
        return not (self._heard and self._unsent)

    # --- one turn ---

    def _turn(self) -> None:
        poll = select.poll()
        if self._hearing:
            poll.register(0, select.POLLIN)
        if self._unsent and self._heard:
            poll.register(1, select.POLLOUT)
        poll.register(self._wake, select.POLLIN)
        for fd in self._helpers:
            poll.register(fd, select.POLLIN)
        if len(self._unsent) < ENOUGH_UNSENT or not self._heard:
            for fd in self._pipes:
                poll.register(fd, select.POLLIN)
        for fd, _ in poll.poll(self._patience()):
            if fd == 0:
                self._hear()
            elif fd == 1:
                self._send()
            elif fd == self._wake:
                self._heed_signals()
            elif fd in self._helpers:
                self._hear_helper(fd)
            elif fd in self._pipes:  # not closed meanwhile
                self._forward(fd)
        self._press_on()

    def _patience(self) -> Optional[float]:
        """Milliseconds to wait at most; processes that are not our children end unannounced."""
        if self._hearing and self._kill_at is None:
            return None
        return 50

    def _say(self, kind: bytes, index: int, content: bytes = b"") -> None:
        if self._heard:
            self._unsent += pack(kind, index, content)

    def _send(self) -> None:
        try:
            sent = os.write(1, self._unsent[: frames.PIECE * 4])
            del self._unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._launcher_gone()

    def _hear(self) -> None:
        try:
            data = os.read(0, frames.PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._hearing = False
            self._stop_listening()
            if self._workers:
                self._terminate(GRACE_SECONDS)
            else:
                self._term_at = time.monotonic() + STRAGGLER_SECONDS
            return
        for kind, index, content in self._parser.feed(data):
            self._obey(kind, index, content)

    def _obey(self, kind: bytes, index: int, content: bytes) -> None:
        if kind == frames.START:
            self._start(index, content)
        elif kind == frames.BLOB:
            self._keep_function(content)
        elif kind == frames.TERMINATE:
            self._terminate(float(content))
        elif kind == frames.LISTEN:
            self._listen(content)
        elif kind == frames.DIAL:
            self._dial(content)

    def _launcher_gone(self) -> None:
        self._heard = self._hearing = False
        self._unsent.clear()
        self._terminate(GRACE_SECONDS)

    # --- workers ---

    def _start(self, index: int, content: bytes) -> None:
        self._stop_listening()
        cwd, runs_function, argv, variables = frames.parse_start(content)
        env = dict(os.environ)
        env.update(v.partition("=")[::2] for v in variables)
        try:
            worker = Worker(argv, env, cwd, self._function_file() if runs_function else None)
        except OSError as error:
            self._say(frames.STDERR, index, b"horovodrun: %s\n" % str(error).encode())
            self._say(frames.EXITED, index, b"%d" % (126 << 8))
            return
        self._workers[index] = worker
        self._pipes.update({fd: index for fd in worker.fds})
        self._kinds.update(worker.fds)
        self._say(frames.STARTED, index, b"%d" % worker.pid)

    def _function_file(self) -> int:
        """A file without a name that holds the function; each worker opens it anew."""
        if self._function is None:
            import tempfile

            self._function, path = tempfile.mkstemp(prefix="horovod-function-")
            os.unlink(path)
        return self._function

    def _keep_function(self, content: bytes) -> None:
        fd = self._function_file()
        while content:
            content = content[os.write(fd, content) :]

    def _forward(self, fd: int) -> bool:
        """Passes on one piece; False if there is no more for now."""
        try:
            data = os.read(fd, frames.PIECE)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno == errno.EINTR:
                return True
            data = b""
        if data:
            self._say(self._kinds[fd], self._pipes[fd], data)
            return True
        self._say(self._kinds[fd], self._pipes[fd])  # empty: there will be no more
        os.close(fd)
        del self._pipes[fd], self._kinds[fd]
        return False

    def _drain(self, fd: int) -> None:
        """Passes on what is there now; whoever still writes cannot keep us here."""
        for _ in range(PIPE_PIECES):
            if fd not in self._pipes or not self._forward(fd):
                return

    def _heed_signals(self) -> None:
        numbers = os.read(self._wake, 4096)
        if any(n != signal.SIGCHLD for n in numbers):
            self._hearing = False
            self._terminate(GRACE_SECONDS)
        self._reap()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for index, worker in list(self._workers.items()):
                if worker.pid == pid and os.WIFSTOPPED(status):
                    self._stopped(index, pid, os.WSTOPSIG(status))
                elif worker.pid == pid:
                    self._ended(index, worker, status)

    def _stopped(self, index: int, pid: int, number: int) -> None:
        """It may go on one day, so this is no end; but who wonders why nothing happens is told."""
        text = (
            "horovodrun: process %d on host %s was stopped by signal %d; kill -CONT continues it\n"
        )
        self._say(frames.STDERR, index, (text % (pid, os.uname().nodename, number)).encode())

    def _ended(self, index: int, worker: Worker, status: int) -> None:
        """What it has written comes before the news of its end."""
        for fd in worker.fds:
            self._drain(fd)
        del self._workers[index]
        self._say(frames.EXITED, index, b"%d" % status)

    # --- the end ---

    def _terminate(self, grace: float) -> None:
        """Asks everything below to end; a second call can only shorten the grace."""
        now = time.monotonic()
        if self._kill_at is None or now + grace < self._kill_at:
            self._kill_at = now + grace
            self._end_all(signal.SIGTERM if grace > 0 else signal.SIGKILL)

    def _press_on(self) -> None:
        now = time.monotonic()
        if self._kill_at is not None and now >= self._kill_at:
            self._end_all(signal.SIGKILL)
        elif self._kill_at is None and self._term_at is not None and now >= self._term_at:
            self._terminate(GRACE_SECONDS)

    def _end_all(self, number: signal.Signals) -> None:
        signal_all(descendants(os.getpid()), number)
        self._reap()

    # --- probing networks: see probe.py ---

    def _listen(self, content: bytes) -> None:
        from .probe import open_listeners, serve

        token, host = frames.unpack_fields(content)
        listeners, told = open_listeners()
        self._listener = self._help(lambda: serve(listeners, token, host))
        for listener in listeners:
            listener.close()
        self._say(frames.LISTENING, 0, pack_fields(*told))

    def _dial(self, content: bytes) -> None:
        from .probe import reachable

        token, host, *targets = frames.unpack_fields(content)
        _, answer = self._help(lambda: reachable(token, host, targets))
        self._helpers[answer] = b""

    def _stop_listening(self) -> None:
        if self._listener is not None:
            signal_all(self._listener[:1], signal.SIGKILL)
            os.close(self._listener[1])
            self._listener = None

    def _help(self, work: Callable[[], List[str]]) -> Tuple[int, int]:
        """Runs `work` in a child; its process id, and the pipe in which its answer arrives."""
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                die_with_parent(signal.SIGKILL)
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.write(write_end, pack_fields(*work()))
            finally:
                os._exit(0)
        os.close(write_end)
        return pid, read_end

    def _hear_helper(self, fd: int) -> None:
        data = os.read(fd, frames.PIECE)
        if data:
            self._helpers[fd] += data
            return
        os.close(fd)
        self._say(frames.REACHED, 0, self._helpers.pop(fd))


def main() -> None:
    """Runs the agent on standard input and output, under a guard."""
    adopt_orphans()
    die_with_parent(signal.SIGTERM)
    agent = os.fork()
    if agent != 0:
        _guard(agent)
    try:
        Agent().run()
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _guard(agent: int) -> NoReturn:
    """Should the agent be killed, its workers become children of the guard, which ends them.

    Should the guard be killed, the agent gets a signal and ends everything itself.
    """
    _, status = os.waitpid(agent, 0)
    if status != 0:
        text = "horovodrun: the agent on %s ended with wait status %d\n"
        os.write(2, (text % (os.uname().nodename, status)).encode())
    deadline = time.monotonic() + GRACE_SECONDS
    while status != 0 and time.monotonic() < deadline:
        left = descendants(os.getpid())
        if not left:
            break
        signal_all(left, signal.SIGKILL)
        time.sleep(0.01)
    os._exit(0 if status == 0 else 1)
