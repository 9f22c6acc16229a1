"""What takes over while torch.compile traces: the operators of `horovodx.torch_ops`.

They must be registered before the first graph is made, and registering them needs the compiler,
which takes as long to import as torch itself. So they are imported right after torch._dynamo,
whoever imports that, and never in a program that does not compile.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Optional, Sequence

import torch

_COMPILER = "torch._dynamo"

is_compiling = torch.compiler.is_compiling
operators: Any = None  # horovodx.torch_ops, once the compiler is there


def _load_operators() -> None:
    global operators
    import horovodx.torch_ops

    operators = horovodx.torch_ops


class _ThenOperators(importlib.abc.Loader):
    """Loads the compiler as usual, then our operators."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _load_operators()


class _WatchForCompiler(importlib.abc.MetaPathFinder):
    """Stands at the door until the compiler is imported, once."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname != _COMPILER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenOperators(spec.loader)
        return spec


def watch_for_compiler() -> None:
    """Called when horovod.torch is imported."""
    if _COMPILER in sys.modules:
        _load_operators()
    else:
        sys.meta_path.insert(0, _WatchForCompiler())
