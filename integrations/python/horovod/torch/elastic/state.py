"""TorchState, and a handler for each kind of thing it may hold."""

import copy
from typing import Any, Dict, List, Optional, Tuple, Type

import torch

from horovod.common.elastic import ObjectState
from horovod.torch._basics import rank
from horovod.torch.elastic.sampler import ElasticSampler
from horovod.torch.functions import (
    broadcast_object,
    broadcast_optimizer_state,
    broadcast_parameters,
)


class StateHandler:
    """Saves, restores and synchronises one value of a TorchState."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def save(self) -> None:
        """Keeps a copy."""
        raise NotImplementedError

    def restore(self) -> None:
        """Goes back to the copy."""
        raise NotImplementedError

    def sync(self) -> None:
        """Gives rank 0's to all ranks."""
        raise NotImplementedError

    def _abandon(self) -> None:
        """Nobody waits any longer for what is on its way; called before anything is restored."""

    def _reset(self) -> None:
        """The number of ranks may have changed."""

    def set_value(self, value: Any) -> None:
        """Handles another value from now on."""
        self.value = value
        self.save()


class _DictHandler(StateHandler):
    """For whatever has state_dict() and load_state_dict()."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self._saved: Any = None
        self.save()

    def save(self) -> None:
        self._saved = copy.deepcopy(self.value.state_dict())

    def restore(self) -> None:
        # A copy: some keep what they are given, and would change it.
        self.value.load_state_dict(copy.deepcopy(self._saved))


class ModelStateHandler(_DictHandler):
    """For modules."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__(model)

    def sync(self) -> None:
        broadcast_parameters(self.value.state_dict(), root_rank=0)


class OptimizerStateHandler(_DictHandler):
    """For optimizers, also distributed ones."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(optimizer)

    def _abandon(self) -> None:
        # Gradients belong to the step that failed, and others may never send theirs.
        if hasattr(self.value, "_abandon_pending"):
            self.value._abandon_pending()
        self.value.zero_grad()

    def sync(self) -> None:
        broadcast_optimizer_state(self.value, root_rank=0)


class SamplerStateHandler(_DictHandler):
    """For ElasticSampler."""

    def __init__(self, sampler: ElasticSampler) -> None:
        super().__init__(sampler)

    def sync(self) -> None:
        state = broadcast_object(self.value.state_dict(), 0, name="elastic.sampler")
        self.value.load_state_dict(state)

    def _reset(self) -> None:
        self.value.reset()


Registry = List[Tuple[type, Type[StateHandler]]]

_handler_registry: Registry = [
    (torch.nn.Module, ModelStateHandler),
    (torch.optim.Optimizer, OptimizerStateHandler),
    (ElasticSampler, SamplerStateHandler),
]


def get_handler_registry() -> Registry:
    """Types and their handlers; the first that fits is taken."""
    return _handler_registry


def set_handler_registry(registry: Registry) -> None:
    """Other types and handlers for states made from now on."""
    global _handler_registry
    _handler_registry = registry


def _handler_for(value: Any) -> Optional[StateHandler]:
    for kind, handler in _handler_registry:
        if isinstance(value, kind):
            return handler(value)
    return None


class TorchState(ObjectState):
    """Models, optimizers, samplers and any other objects under names of your choice.

    model, optimizer: what almost everybody has. Other keywords become attributes, too; modules,
    optimizers and samplers among them are handled like these two.
    """

    def __init__(
        self,
        model: Optional[torch.nn.Module] = None,
        optimizer: Optional[torch.optim.Optimizer] = None,
        **kwargs: Any,
    ) -> None:
        kwargs.update(model=model, optimizer=optimizer)
        handlers: Dict[str, StateHandler] = {}
        for name, value in list(kwargs.items()):
            handler = _handler_for(value)
            if handler is not None:
                handlers[name] = handler
                super().__setattr__(name, kwargs.pop(name))
        self._handlers = handlers
        super().__init__(bcast_object=_from_rank_0, get_rank=rank, **kwargs)

    def save(self) -> None:
        """Keeps copies of everything."""
        for handler in self._handlers.values():
            handler.save()
        super().save()

    def restore(self) -> None:
        """Goes back to what was kept last."""
        for handler in self._handlers.values():
            handler._abandon()
        for handler in self._handlers.values():
            handler.restore()
        super().restore()

    def sync(self) -> None:
        """Gives rank 0's to all ranks."""
        for handler in self._handlers.values():
            handler.sync()
        super().sync()

    def reset(self) -> None:
        """Samplers divide what is left among the ranks there are now."""
        for handler in self._handlers.values():
            handler._reset()

    def __setattr__(self, name: str, value: Any) -> None:
        handler = self.__dict__.get("_handlers", {}).get(name)
        super().__setattr__(name, value)
        if handler is not None:
            handler.set_value(value)


def _from_rank_0(obj: Any) -> Any:
    return broadcast_object(obj, 0, name="elastic.state")
