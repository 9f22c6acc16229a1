"""A rank that fails, dies or sleeps ends its job: the suite itself never hangs."""

import time

import horovodrun
import pytest

SECONDS = 60.0


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("on_purpose/one_fails.py", "rank 1 fails on purpose"),
        ("on_purpose/one_dies.py", "Exit code: 7"),
    ],
)
def test_ends_at_once(file: str, says: str) -> None:
    begin = time.monotonic()
    code, output = horovodrun.run_checks(3, [file], SECONDS)
    print(output)
    assert code not in (0, None)
    assert says in output
    assert time.monotonic() - begin < SECONDS / 2


def test_a_rank_that_sleeps_says_where() -> None:
    code, output = horovodrun.run_checks(2, ["on_purpose/one_sleeps.py"], SECONDS, seconds=8.0)
    print(output)
    assert code not in (0, None)
    assert "test_sleeps" in output and "Timeout" in output
