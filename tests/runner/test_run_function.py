"""horovod.run(): a function on all ranks, its results by rank."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAMS, SECONDS, clean_env, processes_with

import horovod


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("HOME", str(home))


def whoami(greeting: str, mark: str = "!") -> tuple[int, str]:
    return int(os.environ["HOROVOD_RANK"]), greeting + mark


def test_results_come_by_rank() -> None:
    results = horovod.run(whoami, args=("hi",), kwargs={"mark": "?"}, num_proc=3)
    assert results == [(0, "hi?"), (1, "hi?"), (2, "hi?")]


def test_closures_and_lambdas() -> None:
    offset = 10
    assert horovod.run(lambda: int(os.environ["HOROVOD_RANK"]) + offset, num_proc=2) == [10, 11]


def test_it_can_be_called_again_and_again() -> None:
    for number in range(3):
        assert horovod.run(lambda n=number: n, num_proc=1) == [number]


def test_big_functions_and_results() -> None:
    data = os.urandom(8 << 20)
    results = horovod.run(lambda: data * 2, num_proc=2)
    assert results == [data * 2] * 2


def test_output_is_forwarded_to_the_current_streams(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty() -> None:
        print("to stdout")
        print("to stderr", file=sys.stderr)

    horovod.run(chatty, num_proc=1)
    captured = capsys.readouterr()
    assert "[0]<stdout>:to stdout\n" in captured.out
    assert "[0]<stderr>:to stderr\n" in captured.err


def test_an_exception_is_told_with_its_rank() -> None:
    def fail() -> None:
        if os.environ["HOROVOD_RANK"] == "1":
            raise ValueError("the reason")
        import time

        time.sleep(1000)

    with pytest.raises(RuntimeError) as error:
        horovod.run(fail, num_proc=2)
    text = str(error.value)
    assert "exited with non-zero status" in text
    assert "Process name: 1" in text
    assert "ValueError: the reason" in text


def test_a_result_that_cannot_be_pickled_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="pickle"):
        horovod.run(lambda: threading.Lock(), num_proc=1)


def test_a_function_that_exits_early_has_no_result() -> None:
    with pytest.raises(RuntimeError, match="rank 0 exited with 0 before it returned"):
        horovod.run(lambda: os._exit(0), num_proc=1)


def test_from_another_thread() -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.extend(horovod.run(os.getpid, num_proc=2)))
    thread.start()
    thread.join(SECONDS)
    assert len(set(results)) == 2


def test_children_of_a_worker_do_not_hold_the_result(mark: str) -> None:
    name, value = mark.split("=")

    def leave_a_child() -> str:
        if os.fork() == 0:
            import time

            time.sleep(1000)
        os.environ[name] = value
        return "done"

    assert horovod.run(leave_a_child, num_proc=1) == ["done"]
    assert not processes_with(mark)


def test_modules_beside_the_script_are_found(tmp_path: Path) -> None:
    (tmp_path / "helper_module.py").write_text("def answer():\n    return 42\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import horovod, helper_module\nprint(horovod.run(helper_module.answer, num_proc=1))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=SECONDS, cwd="/",
        env=clean_env(HOME=str(tmp_path)), check=False,
    )  # fmt: skip
    assert done.stdout == "[42]\n", done.stderr


def test_workers_meet(capsys: pytest.CaptureFixture[str]) -> None:
    source = (PROGRAMS / "allreduce.py").read_text()

    def add_up() -> None:
        exec(compile(source, "allreduce.py", "exec"), {})

    horovod.run(add_up, num_proc=2)
    assert "[1]<stdout>:rank 1 of 2 local 1/2 cross 0/1 sum 3\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "fragment"),
    [
        ({"hosts": "a:1", "hostfile": "f"}, "hosts or hostfile"),
        ({"use_gloo": True, "use_mpi": True}, "exclude"),
        ({"hosts": "localhost:1", "num_proc": 2}, "Requested more processes"),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], fragment: str) -> None:
    with pytest.raises(ValueError, match=fragment):
        horovod.run(whoami, args=("x",), **wrong)


def test_elastic_is_not_there_yet() -> None:
    with pytest.raises(NotImplementedError, match="not available yet"):
        horovod.run(whoami, args=("x",), num_proc=1, min_num_proc=1)


def test_old_names_of_arguments_still_work() -> None:
    with pytest.warns(DeprecationWarning, match="num_proc"):
        assert horovod.run(lambda: 1, np=2) == [1, 1]
    with pytest.warns(DeprecationWarning, match="network_interfaces"):
        assert horovod.run(lambda: 2, network_interface="lo") == [2]


def test_another_interpreter(tmp_path: Path) -> None:
    wrapper = tmp_path / "my-python"
    wrapper.write_text(f'#!/bin/sh\nWRAPPED=yes exec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    results = horovod.run(lambda: os.environ.get("WRAPPED"), executable=str(wrapper))
    assert results == ["yes"]
