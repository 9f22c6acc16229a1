"""What workers write: prefixes, lines, files."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import Run

from horovod.runner.driver.prefix import LinePrefixer


def test_stdout_and_stderr_stay_apart(run: Run) -> None:
    done = run("-np", "2", "sh", "-c", "echo out $HOROVOD_RANK; echo err $HOROVOD_RANK >&2")
    assert sorted(done.stdout.splitlines()) == ["[0]<stdout>:out 0", "[1]<stdout>:out 1"]
    assert sorted(done.stderr.splitlines()) == ["[0]<stderr>:err 0", "[1]<stderr>:err 1"]


def test_progress_bars_are_forwarded_at_carriage_returns(run: Run) -> None:
    program = "import sys; sys.stdout.write('10%\\r20%\\rdone\\n')"
    done = run("-np", "1", sys.executable, "-c", program, text=False)
    assert done.stdout == b"[0]<stdout>:10%\r[0]<stdout>:20%\r[0]<stdout>:done\n"


def test_a_last_line_without_end_is_forwarded(run: Run) -> None:
    assert run("-np", "1", "printf", "a\\nb").stdout == "[0]<stdout>:a\n[0]<stdout>:b"


def test_nobody_continues_the_line_of_another(run: Run) -> None:
    out = run("-np", "3", "printf", "x").stdout
    assert sorted(out.splitlines()) == ["[0]<stdout>:x", "[1]<stdout>:x", "[2]<stdout>:x"]


def test_time_stamps(run: Run) -> None:
    done = run("-np", "1", "--prefix-output-with-timestamp", "echo", "hi")
    assert re.fullmatch(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\[0\]<stdout>:hi\n", done.stdout)


@pytest.mark.parametrize(("np", "name"), [("1", "rank.0"), ("2", "rank.0"), ("11", "rank.00")])
def test_output_files(run: Run, tmp_path: Path, np: str, name: str) -> None:
    folder = tmp_path / "deep" / "out"
    done = run("-np", np, "--output-filename", str(folder), "sh", "-c", "echo o; echo e >&2")
    assert done.returncode == 0, done.stderr
    assert (folder / name / "stdout").read_text() == "[0]<stdout>:o\n"
    assert (folder / name / "stderr").read_text() == "[0]<stderr>:e\n"
    assert len(list(folder.iterdir())) == int(np)
    assert "[0]<stdout>:o" in done.stdout.splitlines()


def test_much_output_arrives_complete(run: Run) -> None:
    program = "for i in range(100_000): print(i, 'x' * 50)"
    done = run("-np", "2", sys.executable, "-c", program)
    for rank in range(2):
        prefix = f"[{rank}]<stdout>:"
        lines = [ln[len(prefix) :] for ln in done.stdout.splitlines() if ln.startswith(prefix)]
        assert lines == [f"{i} {'x' * 50}" for i in range(100_000)]


def test_what_a_worker_leaves_behind_does_not_hold_the_job(run: Run, mark: str) -> None:
    name, value = mark.split("=")
    command = "(trap '' HUP; sleep 1000) & echo left"
    done = run("-np", "1", "sh", "-c", command, env={name: value}, timeout=15)
    assert done.returncode == 0
    assert done.stdout == "[0]<stdout>:left\n"


def test_a_reader_that_goes_away_ends_the_job(start, mark: str) -> None:
    name, value = mark.split("=")
    job = start("-np", "2", "yes", env={name: value})
    assert job.stdout.readline().startswith("[")
    job.stdout.close()
    assert job.wait(timeout=20) != 0


class TestLinePrefixer:
    """Cutting bytes into lines."""

    @staticmethod
    def feed(*pieces: bytes) -> str:
        prefixer = LinePrefixer("p:", False)
        return "".join(prefixer.feed(piece) for piece in pieces) + prefixer.finish()

    def test_characters_torn_apart(self) -> None:
        text = "é€😀\n".encode()
        assert self.feed(*(text[i : i + 1] for i in range(len(text)))) == "p:é€😀\n"

    def test_what_is_not_utf8(self) -> None:
        assert self.feed(b"a\xffb\n") == "p:a\ufffdb\n"

    @pytest.mark.parametrize(
        ("pieces", "expected"),
        [
            ((b"a\r\nb\r\n",), "p:a\r\np:b\r\n"),
            ((b"a\r", b"\nb\n"), "p:a\r\np:b\n"),
            ((b"a\r", b"b\r", b"\r"), "p:a\rp:b\rp:\r"),
            ((b"\n\n",), "p:\np:\n"),
            ((b"a", b"b", b"c"), "p:abc"),
            ((b"",), ""),
        ],
    )
    def test_ends_of_lines(self, pieces: tuple[bytes, ...], expected: str) -> None:
        assert self.feed(*pieces) == expected

    def test_a_line_without_end_does_not_grow_for_ever(self) -> None:
        prefixer = LinePrefixer("p:", False)
        out = "".join(prefixer.feed(b"x" * (1 << 16)) for _ in range(40))
        assert len(out) > 1 << 20
