"""A link: the launcher's end of the agent on one host."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from typing import Iterable, Iterator, Mapping

from horovod.runner.agent import frames
from horovod.runner.agent.frames import Frame, FrameParser
from horovod.runner.driver.bundle import agent_source

_MOST_NOISE = 64 << 10  # bytes a login shell may print before the agent greets us


class Link:
    """One agent, reached over pipes of a child process: the agent itself, or ssh.

    Nothing here waits: switchboard.py calls when there is something to read or room to write.
    """

    def __init__(
        self,
        host: str,
        command: list[str],
        is_local: bool,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.host = host
        self.is_local = is_local
        self.command = command
        self.greeted = False
        self.hostname = ""
        self.python_version = ""
        self.networks: list[tuple[str, str]] = []
        self.closed = False  # the agent says nothing more
        self._parser = FrameParser()
        self._noise = b""
        self._complaints: deque[bytes] = deque(maxlen=64)
        self._unsent = bytearray(agent_source())
        self._no_more = False
        # A session of its own: Ctrl-C is for the launcher, and ssh cannot ask for a password.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=env if is_local else {**os.environ, "SSH_ASKPASS_REQUIRE": "never"},
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin = self.process.stdin
        self.stdout = self.process.stdout
        self.stderr = self.process.stderr
        for pipe in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(pipe.fileno(), False)

    # --- to the agent ---

    def say(self, kind: bytes, index: int = 0, content: bytes = b"") -> None:
        """Queues a frame."""
        self._unsent += frames.pack(kind, index, content)

    def finish(self) -> None:
        """There is nothing more to say; the agent ends what still runs, and itself."""
        self._no_more = True
        if not self._unsent:
            self._close_stdin()

    def wants_to_write(self) -> bool:
        """Whether there is something to send."""
        return bool(self._unsent) and not self.stdin.closed

    def write(self) -> None:
        """Sends what fits."""
        try:
            sent = os.write(self.stdin.fileno(), self._unsent[: 256 << 10])
            del self._unsent[:sent]
        except BlockingIOError:
            return
        except OSError:  # the agent is gone; read() will say so
            self._unsent.clear()
            self._no_more = True
        if self._no_more and not self._unsent:
            self._close_stdin()

    def _close_stdin(self) -> None:
        if not self.stdin.closed:
            self.stdin.close()

    # --- from the agent ---

    def read(self) -> Iterator[Frame]:
        """Takes what is there and yields frames; sets `closed` at the end."""
        try:
            data = os.read(self.stdout.fileno(), 256 << 10)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed = True
        elif not self.greeted:
            data = self._skip_noise(data)
        try:
            for frame in self._parser.feed(data):
                if frame[0] == frames.HELLO:
                    self._introduce(frame[2])
                else:
                    yield frame
        except frames.BadFrame as error:
            self._complaints.append(f"horovodrun: the agent on {self.host} {error}\n".encode())
            self.closed = True

    def _skip_noise(self, data: bytes) -> bytes:
        self._noise += data
        before, greeting, after = self._noise.partition(frames.GREETING)
        if greeting:
            self._noise = before
            self.greeted = True
            return after
        if len(self._noise) > _MOST_NOISE:
            self._complaints.append(b"horovodrun: the login shell prints too much\n")
            self.closed = True
        return b""

    def _introduce(self, content: bytes) -> None:
        self.hostname, self.python_version, *rest = frames.unpack_fields(content)
        self.networks = list(zip(rest[::2], rest[1::2]))

    def read_stderr(self) -> bool | None:
        """Keeps the last of what ssh and the agent complain about; None for now, False for good."""
        try:
            data = os.read(self.stderr.fileno(), 16 << 10)
        except BlockingIOError:
            return None
        except (OSError, ValueError):
            return False
        self._complaints.append(data)
        return bool(data)

    def complaints(self) -> str:
        """What ssh, the login shell or the agent said outside of frames."""
        while self.read_stderr():
            pass
        noise = b"" if self.greeted else self._noise
        return (noise + b"".join(self._complaints)).decode("utf-8", "replace").strip()

    # --- the end ---

    def exit_code(self, seconds: float = 1.0) -> int:
        """How the child ended, when `closed`; one that hangs on is killed."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def kill(self) -> None:
        """Ends the child at once. A local agent's workers end with it; others lose their ssh."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()


def addresses_on(networks: Iterable[tuple[str, str]], interface: str) -> list[str]:
    """The addresses an interface has."""
    return [address for name, address in networks if name == interface]
