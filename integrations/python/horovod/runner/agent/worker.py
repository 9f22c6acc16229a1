"""One worker: a process in a session of its own, with pipes for what it writes."""

from __future__ import annotations

import os
import signal

from .frames import RESULT, STDERR, STDOUT
from .process_tree import die_with_parent

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Dict, List, NoReturn, Optional

# How a worker that runs a function (run_task.py) finds its ends.
FUNCTION_FD = "HOROVODX_FUNCTION_FD"
RESULT_FD = "HOROVODX_RESULT_FD"

# Signals that the agent handles, and those that Python ignores.
_NOT_INHERITED = (
    signal.SIGCHLD,
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGPIPE,
    signal.SIGXFSZ,
)


def _tell(text: str) -> None:
    os.write(2, text.encode("utf-8", "surrogateescape"))


def _become(argv: List[str], env: Dict[str, str], cwd: str, fds: List[int]) -> NoReturn:
    """Turns the child into the command; says why on standard error if that cannot be done."""
    try:
        os.setsid()
        die_with_parent(signal.SIGKILL)
        for number in _NOT_INHERITED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        null = os.open(os.devnull, os.O_RDONLY)
        for target, fd in enumerate([null, *fds]):
            os.dup2(fd, target)
        try:
            os.chdir(cwd)
        except OSError as error:  # another host may lack the launcher's directory
            text = "horovodrun: cannot enter directory '%s' on host %s: %s; running in '%s'\n"
            _tell(text % (cwd, os.uname().nodename, error.strerror, os.getcwd()))
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        where = "" if "/" in argv[0] else " (PATH is %s)" % env.get("PATH", "not set")
        text = "horovodrun: cannot run '%s' on host %s: %s%s\n"
        _tell(text % (argv[0], os.uname().nodename, error.strerror, where))
        os._exit(126 if isinstance(error, PermissionError) else 127)
    except BaseException:
        os._exit(1)


class Worker:
    """A running worker. `fds` maps the pipes that are still open to the kind of their frames."""

    def __init__(
        self, argv: List[str], env: Dict[str, str], cwd: str, function: Optional[int]
    ) -> None:
        self.fds: Dict[int, bytes] = {}
        theirs = [self._pipe(STDOUT), self._pipe(STDERR)]
        if function is not None:
            # Descriptors 3 and 4 of the worker.
            theirs += [os.open("/proc/self/fd/%d" % function, os.O_RDONLY), self._pipe(RESULT)]
            env = dict(env, **{FUNCTION_FD: "3", RESULT_FD: "4"})
        # Out of the way of the numbers they will have.
        high = [_above(fd, 3 + len(theirs)) for fd in theirs]
        # A SIGTERM meanwhile must not be lost to a handler of ours in the child.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self.pid = os.fork()
        if self.pid == 0:
            _become(argv, env, cwd, high)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for fd in high:
            os.close(fd)

    def _pipe(self, kind: bytes) -> int:
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        self.fds[read_end] = kind
        return write_end


def _above(fd: int, least: int) -> int:
    import fcntl

    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, least)
    os.close(fd)
    return moved
