"""Which modules use which parameters, and a word from them before they do.

At first every module that is called is noted. A parameter belongs to the module that has it; if
that one is never called itself (a list, or a layer whose weight its parent takes), to the next one
above it that is. Later those modules alone have hooks.
"""

import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Set

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from horovod.torch._compiled import is_compiling


class _NoHook:
    """What a copied or loaded module has in place of a hook."""

    def __call__(self, *_: Any) -> None:
        return None


class Hook:
    """Calls its owner's `before(hook)`, if the owner lives and anything is on its way."""

    def __init__(self, owner: Any, parameters: List[torch.Tensor]) -> None:
        self._owner = weakref.ref(owner)
        self.parameters = parameters

    def __call__(self, *_: Any) -> None:
        if is_compiling():
            # Modules that were compiled when they were noted have none of these hooks inside.
            torch._dynamo.graph_break()
        owner = self._owner()
        if owner is not None and owner._arriving:
            owner._before_use(self.parameters)

    def __deepcopy__(self, memo: Any) -> _NoHook:
        owner = self._owner()
        if owner is not None and owner._arriving:
            raise RuntimeError(
                "a model was copied while updates of its parameters are on their way: call "
                "optimizer.flush() before (see split_allreduce of DistributedOptimizer)"
            )
        return _NoHook()

    def __reduce__(self) -> Any:
        # Whoever saves a module writes the parameters after everything else.
        owner = self._owner()
        if owner is not None:
            owner.flush()
        return _NoHook, ()


class FlushHook(Hook):
    """Ends everything that is on its way: the module's parameters are about to be read or set."""

    def __call__(self, *_: Any) -> None:
        owner = self._owner()
        if owner is not None:
            owner.flush()


class UsedModules:
    """See above."""

    def __init__(self) -> None:
        self._called: Dict[torch.nn.Module, None] = {}  # in the order of their first calls
        self._hooks: List[Any] = []
        self._noting: Optional[Any] = None

    def start_noting(self) -> None:
        """Every call of any module is noted."""
        # Only a weak reference: such a hook outlives us.
        me = weakref.ref(self)

        def note(module: torch.nn.Module, _: Any) -> None:
            if is_compiling():
                return  # what is called inside of a compiled module is not asked later
            noting = me()
            if noting is None:
                handle.remove()
            else:
                noting._called.setdefault(module, None)

        handle = register_module_forward_pre_hook(note)
        self._noting = handle

    def of_parameters(self) -> Dict[torch.nn.Module, List[torch.Tensor]]:
        """Modules in the order of their first calls, and the parameters they are asked for."""
        return {module: self._under(module, set()) for module in self._called}

    def _under(self, module: torch.nn.Module, seen: Set[torch.nn.Module]) -> List[torch.Tensor]:
        seen.add(module)
        found: List[torch.Tensor] = [p for p in module._parameters.values() if p is not None]
        for child in module.children():
            if child not in self._called and child not in seen:
                found += self._under(child, seen)
        return found

    def stop_noting(self) -> None:
        """Nothing is learnt any more, and calls cost nothing."""
        if self._noting is not None:
            self._noting.remove()
            self._noting = None

    def ask(self, owner: Any, wanted: Callable[[torch.Tensor], bool]) -> None:
        """Puts hooks on modules that use wanted parameters, instead of those that were there."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        for module, parameters in self.of_parameters().items():
            used = [p for p in parameters if wanted(p)]
            if used:
                hook = Hook(owner, used)
                self._hooks.append(module.register_forward_pre_hook(hook))
        for module in self._having(wanted):
            flush = FlushHook(owner, [])
            self._hooks.append(module.register_state_dict_pre_hook(flush))
            self._hooks.append(
                module._register_load_state_dict_pre_hook(flush, with_module=True)
            )

    def _having(self, wanted: Callable[[torch.Tensor], bool]) -> Iterable[torch.nn.Module]:
        below = {inner: None for module in self._called for inner in module.modules()}
        for module in below:
            if any(p is not None and wanted(p) for p in module._parameters.values()):
                yield module
