"""HOROVOD_AUTOTUNE in a job as users start it: the log, the results, and that it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import PROGRAMS, Run

HEADER = (
    "hierarchical_allreduce,hierarchical_allgather,torus_allreduce,cache_enabled,cycle_time_ms,"
    "tensor_fusion_threshold,score"
)


@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_a_tuned_job_logs_what_it_tries_and_settles(
    run: Run, tmp_path: Path, transport: str
) -> None:
    log = tmp_path / "tuning.csv"
    done = run(
        "-np", "2", "--autotune", "--autotune-log-file", str(log),
        "--autotune-warmup-samples", "1", "--autotune-steps-per-sample", "1",
        "--autotune-bayes-opt-max-samples", "1", "--autotune-gaussian-process-noise", "0.2",
        sys.executable, str(PROGRAMS / "tuned_steps.py"),
        env={"STEPS": "700", "HOROVODX_TRANSPORT": transport}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    facts = [json.loads(line.partition("<stdout>:")[2]) for line in done.stdout.splitlines()]
    assert sorted(fact["rank"] for fact in facts) == [0, 1]
    for fact in facts:
        tuned, settled = fact["plans"]
        assert tuned >= 5, "each setting has a plan of its own"
        assert settled == tuned, "tuning is over: no other setting is tried"
    first, *rows = log.read_text().splitlines()
    assert first == HEADER
    assert len(rows) >= 5
    for row in rows:
        fields = row.split(",")
        assert len(fields) == 7, row
        assert fields[:4] == ["0", "0", "0", " 1"], row
        assert float(fields[5]) >= 0 and float(fields[6]) > 0, row
    # The last row is the best setting once more: it was tried before.
    assert rows[-1].rpartition(",")[0] in [row.rpartition(",")[0] for row in rows[:-1]]
