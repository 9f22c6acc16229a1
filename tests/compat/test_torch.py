"""Horovod's behaviour on 1 to 4 ranks: every job runs some files of ranks/ on all of them."""

import os
import pathlib
import random

import horovodrun
import pytest

SECONDS = 240.0
JOBS = {
    "collectives": ["allreduce.py", "movement.py", "reducescatter.py", "gradients.py"],
    "errors": ["handles.py", "mistakes.py", "mismatches.py"],
    "sets": ["process_sets.py", "joining.py", "life.py"],
    "objects": ["objects.py", "sync_batch_norm.py", "interrupts.py"],
    "optimizers": [
        *("optimizer.py", "optimizer_travel.py", "optimizer_parameters.py"),
        *("optimizer_sparse.py", "optimizer_use.py", "adasum.py"),
    ],
}


ELASTIC = ["elastic.py", "elastic_state.py"]
COMPILED = ["compiled.py"]
SPLIT = ["optimizer_split.py", "optimizer_split_use.py"]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("job", JOBS)
def test_ranks(job: str, ranks: int) -> None:
    seed = os.environ.get("HVDX_SEED") or str(random.randrange(2**31))
    code, output = horovodrun.run_checks(ranks, JOBS[job], SECONDS, HVDX_SEED=seed)
    print(output)
    print(f"HVDX_SEED={seed}")
    assert code == 0


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_elastic(ranks: int) -> None:
    code, output = horovodrun.run_checks(ranks, ELASTIC, SECONDS)
    print(output)
    assert code == 0


@pytest.mark.parametrize("ranks", [2, 3])
def test_split(ranks: int) -> None:
    # Buckets of a few bytes, so that small models have several.
    code, output = horovodrun.run_checks(ranks, SPLIT, SECONDS, HOROVODX_SPLIT_BUCKET="200")
    print(output)
    assert code == 0


@pytest.mark.parametrize("ranks", [3])
def test_compiled(ranks: int, tmp_path: pathlib.Path) -> None:
    # Compiling takes long, and a cache of an earlier run would hide what compiling does.
    code, output = horovodrun.run_checks(
        ranks, COMPILED, 2 * SECONDS, TORCHINDUCTOR_CACHE_DIR=str(tmp_path)
    )
    print(output)
    assert code == 0


def test_every_file_is_in_a_job() -> None:
    support = {"conftest.py", "expected.py", "training.py"}
    files = {path.name for path in horovodrun.RANKS.glob("*.py")} - support
    assert files == {file for job in JOBS.values() for file in job} | {
        *(*ELASTIC, *COMPILED, *SPLIT)
    }
