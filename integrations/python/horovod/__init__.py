"""Horovod's API on HorovodX: `import horovod.torch as hvd` as ever. Imports no framework."""

from horovod.runner import run

__version__: str = "0.28.1"  # the release whose API this is

__all__ = ["run", "__version__"]
