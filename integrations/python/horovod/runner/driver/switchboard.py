"""The switchboard: moves bytes between the launcher and its links, one thread for all of them."""

from __future__ import annotations

import selectors
import time
from typing import Callable, Iterator

from horovod.runner.agent.frames import Frame
from horovod.runner.driver.link import Link

Hear = Callable[[Link, Frame], None]


class Switchboard:
    """All open links. turn() is called over and over by whoever waits for something."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.links: list[Link] = []
        self._wake_fd: int | None = None
        self._closed = False

    def add(self, link: Link) -> None:
        """Listens to a link from now on."""
        self.links.append(link)
        self._selector.register(link.stdout, selectors.EVENT_READ, (link, "out"))
        self._selector.register(link.stderr, selectors.EVENT_READ, (link, "err"))

    def remove(self, link: Link) -> None:
        """Forgets a link, and ends its child."""
        self.links.remove(link)
        for pipe in (link.stdin, link.stdout, link.stderr):
            self._forget(pipe)
        link.kill()

    def wake_by(self, fd: int) -> None:
        """turn() also returns when `fd` can be read."""
        self._wake_fd = fd
        self._selector.register(fd, selectors.EVENT_READ, None)

    def no_wake(self) -> None:
        """The reverse of wake_by()."""
        if self._wake_fd is not None:
            self._selector.unregister(self._wake_fd)
            self._wake_fd = None

    def turn(self, seconds: float | None) -> Iterator[tuple[Link, Frame]]:
        """Waits until something happens, at most `seconds`; yields the frames that came."""
        self._watch_writers()
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                continue
            link, what = key.data
            if what == "in":
                link.write()
            elif what == "err":
                if link.read_stderr() is False:
                    self._forget(link.stderr)
            else:
                for frame in link.read():
                    yield link, frame
                if link.closed:
                    self._forget(link.stdout)

    def close(self, seconds: float, hear: Hear = lambda link, frame: None) -> None:
        """Says goodbye to all agents and waits for their ends; then ends whoever is left.

        Calling it again does nothing.
        """
        if self._closed:
            return
        self._closed = True
        try:
            for link in self.links:
                link.finish()
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and not all(link.closed for link in self.links):
                for link, frame in self.turn(max(0.0, deadline - time.monotonic())):
                    hear(link, frame)
        finally:
            for link in list(self.links):
                self.remove(link)
            self._selector.close()

    def _watch_writers(self) -> None:
        """A full pipe is watched only while there is something to write."""
        known = self._selector.get_map()
        for link in self.links:
            if link.wants_to_write():
                link.write()
            watched = not link.stdin.closed and link.stdin.fileno() in known
            if link.wants_to_write() and not watched:
                self._selector.register(link.stdin, selectors.EVENT_WRITE, (link, "in"))
            elif watched and not link.wants_to_write():
                self._selector.unregister(link.stdin)

    def _forget(self, pipe: object) -> None:
        try:
            self._selector.unregister(pipe)  # type: ignore[arg-type]
        except (KeyError, ValueError):
            pass
