"""hvdx-bench --tensorflow runs and says what it should; how long things take is not tested."""

import json
import subprocess
import sys
from pathlib import Path

import rank_jobs


def test_step(tmp_path: Path) -> None:
    # Each process checks the weights after every block.
    command = [sys.executable, "-m", "horovodx.bench_command", "--tensorflow", "step"]
    few = ["-np", "3", "--blocks", "1", "--steps", "2", "--warmup", "0", "--products", "4"]
    file = tmp_path / "result.json"
    result = subprocess.run(
        [*command, *few, "--peers", "HorovodX", "--json", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=rank_jobs.environment(),
        timeout=300,
    )
    print(result.stdout)
    assert result.returncode == 0
    written = json.loads(file.read_text())
    assert written["ranks"] == 3
    (row,) = written["steps"]
    assert row["products"] == 4 and set(row["seconds"]) == {"HorovodX"}
    assert row["seconds"]["HorovodX"]["with"] > 0
