"""A TensorFlow that is not there, or not fit: one sentence says which versions work.

The packages of that name are stand-ins; what the library does with real ones is in
test_tensorflow.py and test_other_version.py.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import rank_jobs

MISSING = "raise ModuleNotFoundError(\"No module named 'tensorflow'\", name='tensorflow')"
BROKEN = "import a_library_that_is_not_there"
NEEDED = "ImportError: horovod.tensorflow needs TensorFlow 2.15 or later (it has been tried with "


@pytest.mark.parametrize(
    "tensorflow, said",
    [
        (MISSING, "none is installed."),
        (BROKEN, "importing it fails: No module named 'a_library_that_is_not_there'."),
        ("__version__ = '2.14.1'", "this is 2.14.1."),
        ("__version__ = '1.15.5'", "this is 1.15.5."),
        ("", "this is <module 'tensorflow'"),
    ],
    ids=["missing", "broken", "old", "very old", "something else"],
)
@pytest.mark.parametrize("package", ["horovod.tensorflow", "horovod.tensorflow.keras"])
def test_what_import_says(package: str, tensorflow: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(tensorflow)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {package}"
    result = subprocess.run(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        text=True,
        env=rank_jobs.environment(),
        timeout=120,
    )
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith(NEEDED) and said in last
