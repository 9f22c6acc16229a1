"""horovod.tensorflow on 1, 2 and 3 ranks: a job runs all files of ranks/ on all of them.

Importing TensorFlow takes seconds, so there are few processes with many checks.
"""

import pytest
import rank_jobs

SECONDS = 300.0
FILES = [
    "allreduce.py",
    "movement.py",
    "reducescatter.py",
    "gradients.py",
    "names.py",
    "overlap.py",
    "errors.py",
    "sets_and_join.py",
    "objects.py",
    "tape.py",
    "optimizer_v1.py",
    "batch_norm.py",
    "library.py",
    "elastic.py",
    "xla.py",
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks(ranks: int) -> None:
    code, output = rank_jobs.run_checks(ranks, FILES, SECONDS)
    print(output)
    assert code == 0


def test_kernels_that_block() -> None:
    files = ["allreduce.py", "movement.py", "errors.py", "tape.py"]
    code, output = rank_jobs.run_checks(2, files, SECONDS, HVDX_TF_BLOCKING="1")
    print(output)
    assert code == 0


def test_every_file_is_in_a_job() -> None:
    support = {"conftest.py", "signs.py", "values.py"}
    files = {path.name for path in rank_jobs.RANKS.glob("*.py")} - support
    assert files == set(FILES)
