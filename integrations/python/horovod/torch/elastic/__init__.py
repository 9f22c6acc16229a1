"""Elastic training with PyTorch: `@hvd.elastic.run`, TorchState, ElasticSampler."""

from typing import Any, Callable

from horovod.common.elastic import run_fn
from horovod.torch._basics import init, shutdown
from horovod.torch.elastic.sampler import ElasticSampler
from horovod.torch.elastic.state import TorchState

__all__ = ["ElasticSampler", "TorchState", "run"]


def run(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function that trains, whose first argument is a state.

    When a collective fails or hosts change, the engine starts again, the state is restored or
    synchronised, and the function is called again.
    """
    return run_fn(func, _reset)


def _reset() -> None:
    shutdown()
    init()
