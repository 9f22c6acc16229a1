"""Loads the operators and tells PyTorch what it must know about them."""

import functools

import torch

from horovodx.library import library_path
from horovodx.torch_ops import effects, gradients, shapes


@functools.cache
def register() -> None:
    """Registers `torch.ops.horovodx`, once in a process.

    Raises OSError if this PyTorch lacks what the library needs (it is older than 2.10).
    """
    torch.ops.load_library(library_path("libhorovodx_torch.so"))
    shapes.register()
    gradients.register()
    effects.register()


def count_in_flight() -> tuple[int, int]:
    """Allreduces started and not waited for: now, and the most since the last call."""
    now, most = torch.ops.horovodx.count_in_flight()
    return now, most
