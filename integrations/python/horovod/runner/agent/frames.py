"""What launcher and agent say to each other: frames of kind, worker and content."""

from __future__ import annotations

import struct

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Iterator, List, Tuple

    Frame = Tuple[bytes, int, bytes]  # kind, worker, content
else:
    Frame = tuple

# The agent says this first: what a login shell printed before it is not ours.
GREETING = b"\0horovod-agent-1\n"

# To the agent
START = b"S"  # a worker: see start_content()
BLOB = b"B"  # a piece of the function that workers run
TERMINATE = b"T"  # all workers; content: seconds until SIGKILL
LISTEN = b"L"  # for a probe; content: token, host
DIAL = b"D"  # a probe; content: token, host, then interface, address, port of each target
# From the agent
HELLO = b"H"  # host name, Python version, then interface, address of each network
STDOUT = b"O"
STDERR = b"E"
RESULT = b"R"  # a piece of what the function returned
STARTED = b"G"  # process id
EXITED = b"X"  # wait status
LISTENING = b"l"  # interface, address, port of each
REACHED = b"d"  # interfaces

LIMIT = 4 << 20  # bytes in a frame: more than any environment
PIECE = 64 << 10  # bytes of output in a frame
_HEADER = struct.Struct("!cII")


class BadFrame(Exception):
    """The other side does not speak this language."""


def pack(kind: bytes, index: int, content: bytes = b"") -> bytes:
    """One frame as bytes."""
    if len(content) > LIMIT:
        raise BadFrame("a frame of %d bytes, at most %d are allowed" % (len(content), LIMIT))
    return _HEADER.pack(kind, index, len(content)) + content


def pack_fields(*fields: str) -> bytes:
    """Texts without NUL as one content; any bytes of the file system's encoding survive."""
    return b"\0".join(f.encode("utf-8", "surrogateescape") for f in fields)


def unpack_fields(content: bytes) -> List[str]:
    """The reverse of pack_fields()."""
    return [f.decode("utf-8", "surrogateescape") for f in content.split(b"\0")] if content else []


class FrameParser:
    """Cuts a stream of bytes into frames; a length is judged before anything is kept for it."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Takes bytes and yields the frames that are complete."""
        self._bytes += data
        while len(self._bytes) >= _HEADER.size:
            kind, index, length = _HEADER.unpack_from(self._bytes)
            if length > LIMIT:
                raise BadFrame("announces a frame of %d bytes" % length)
            end = _HEADER.size + length
            if len(self._bytes) < end:
                return
            content = bytes(self._bytes[_HEADER.size : end])
            del self._bytes[:end]
            yield kind, index, content


def start_content(cwd: str, runs_function: bool, argv: List[str], env: List[str]) -> bytes:
    """How to start a worker: where, whether it gets the function, its words and variables."""
    return pack_fields(cwd, "1" if runs_function else "0", str(len(argv)), *argv, *env)


def parse_start(content: bytes) -> Tuple[str, bool, List[str], List[str]]:
    """The reverse of start_content()."""
    cwd, runs_function, count, *rest = unpack_fields(content)
    return cwd, runs_function == "1", rest[: int(count)], rest[int(count) :]
