"""horovod.tensorflow, and Keras 3 on it, on 1, 2 and 3 ranks: a job runs all files on all of them.

Importing TensorFlow takes seconds, so there are few processes with many checks.
"""

import pytest
import rank_jobs

SECONDS = 420.0
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
    files = [*FILES, *rank_jobs.KERAS_FILES]
    code, output = rank_jobs.run_checks(ranks, files, SECONDS, HVDX_KERAS="tensorflow")
    print(output)
    assert code == 0


def test_kernels_that_block() -> None:
    files = ["allreduce.py", "movement.py", "errors.py", "tape.py"]
    code, output = rank_jobs.run_checks(2, files, SECONDS, HVDX_TF_BLOCKING="1")
    print(output)
    assert code == 0


def test_every_file_is_in_a_job() -> None:
    support = {"conftest.py", "signs.py", "values.py", "whole_and_parts.py"}
    here = rank_jobs.RANKS.parent
    files = {p.name for folder in ("ranks", "keras_ranks") for p in (here / folder).glob("*.py")}
    in_jobs = [*FILES, *(file.rpartition("/")[2] for file in rank_jobs.KERAS_FILES)]
    assert files - support == set(in_jobs)
