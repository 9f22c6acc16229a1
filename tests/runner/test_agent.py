"""The agent's language, and the tree of processes it keeps."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import SECONDS, wait_until

from horovod.runner.agent import frames, process_tree
from horovod.runner.agent.frames import FrameParser, pack, pack_fields, unpack_fields
from horovod.runner.driver.bundle import agent_source, local_agent_command


def test_frames_torn_anywhere() -> None:
    sent = [(b"O", 3, b""), (b"E", 0, b"abc"), (b"X", 1 << 31, bytes(1000))]
    stream = b"".join(pack(*frame) for frame in sent)
    parser = FrameParser()
    assert [f for byte in stream for f in parser.feed(bytes([byte]))] == sent
    assert list(FrameParser().feed(stream)) == sent


def test_lengths_are_judged_before_memory_is_taken() -> None:
    with pytest.raises(frames.BadFrame):
        list(FrameParser().feed(b"O" + bytes(4) + b"\xff\xff\xff\xff"))
    with pytest.raises(frames.BadFrame):
        pack(b"O", 0, bytes(frames.LIMIT + 1))


def test_texts_of_any_bytes_survive() -> None:
    texts = ["", "ä", os.fsdecode(b"\xff\xfe"), "a=b\nc"]
    assert unpack_fields(pack_fields(*texts)) == texts
    assert unpack_fields(b"") == []


def test_start_content() -> None:
    start = ("/tmp", True, ["a", "b c"], ["X=1", "Y=a=b"])
    assert frames.parse_start(frames.start_content(*start)) == start


def test_descendants_are_found_at_any_depth() -> None:
    tree = subprocess.Popen(["sh", "-c", "sh -c 'setsid sleep 1000; :'; :"])
    try:
        wait_until(lambda: len(process_tree.descendants(tree.pid)) >= 2, "grandchildren")
    finally:
        doomed = [*process_tree.descendants(tree.pid), tree.pid]
        process_tree.signal_all(doomed, 9)  # type: ignore[arg-type]
        tree.wait(SECONDS)


def test_the_agent_needs_nothing_but_a_bare_python() -> None:
    """It ends by itself when nobody talks to it, and greets first."""
    done = subprocess.run(
        local_agent_command(), input=agent_source(), capture_output=True, timeout=SECONDS, env={},
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(frames.GREETING)
    (hello,) = FrameParser().feed(done.stdout[len(frames.GREETING) :])
    name, version, *networks = unpack_fields(hello[2])
    assert name == os.uname().nodename
    assert version == "{}.{}.{}".format(*sys.version_info[:3])
    assert ("lo", "127.0.0.1") in zip(networks[::2], networks[1::2])
