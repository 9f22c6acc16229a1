"""`horovodrun --check-build`: what this installation can do, found without importing frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from horovod.common import util

_FRAMEWORKS = (("TensorFlow", "tensorflow"), ("PyTorch", "torch"), ("MXNet", "mxnet"))


def build_report(verbose: bool = False) -> str:
    """The text of --check-build."""
    from horovod import __version__

    frameworks = [(name, util.extension_available(ext, verbose)) for name, ext in _FRAMEWORKS]
    mpi, gloo = util.mpi_built(verbose), util.gloo_built(verbose)
    operations = [
        ("NCCL", util.nccl_built(verbose)),
        ("DDL", util.ddl_built(verbose)),
        ("CCL", util.ccl_built(verbose)),
        ("MPI", mpi),
        ("Gloo", gloo),
    ]
    return (
        f"Horovod v{__version__}:\n\n"
        + _section("Available Frameworks", frameworks)
        + "\n"
        + _section("Available Controllers", [("MPI", mpi), ("Gloo", gloo)])
        + "\n"
        + _section("Available Tensor Operations", operations)
    )


def _section(title: str, items: Sequence[tuple[str, object]]) -> str:
    lines = [f"    [{'X' if present else ' '}] {name}\n" for name, present in items]
    return f"{title}:\n" + "".join(lines)
