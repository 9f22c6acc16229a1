"""DeltaReducer: the half of a DistributedOptimizer that reduces weight changes by Adasum.

When a gradient is there the optimizer's own step is done for that parameter alone; the change it
made, not the gradient, goes through Adasum; step() adds the reduced change to the old weight.
"""

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

import torch

from horovod.common.process_sets import global_process_set
from horovod.torch import _handles as handles
from horovod.torch._allreduce import allreduce_async_
from horovod.torch._basics import Adasum
from horovod.torch._handles import synchronize
from horovod.torch._parameter_names import Named, find_duplicates, names_for


class DeltaReducer:
    """See DistributedOptimizer(op=Adasum)."""

    param_groups: List[Dict[str, Any]]
    find_duplicates = staticmethod(find_duplicates)

    def _begin(
        self, named_parameters: Named, compression: Any, backward_passes_per_step: int
    ) -> None:
        self._compression = compression
        self.backward_passes_per_step = backward_passes_per_step
        self.op = Adasum
        self.process_set = global_process_set
        self._parameter_names = names_for(
            self, named_parameters, lambda i, j: f"allreduce.noname.{i}.{j}"
        )
        self._handles: Dict[torch.Tensor, Tuple[Any, Any]] = {}
        self._starting_models: Dict[torch.Tensor, torch.Tensor] = {}
        self._allreduce_delay: Dict[torch.Tensor, int] = {}
        self._requires_update: Set[torch.Tensor] = set()
        for p in self._parameters():
            self._requires_update.add(p)
            self._allreduce_delay[p] = backward_passes_per_step
            p.register_post_accumulate_grad_hook(self._when_accumulated)  # type: ignore[attr-defined]

    def _parameters(self) -> List[torch.Tensor]:
        return [p for group in self.param_groups for p in group["params"] if p.requires_grad]

    def _when_accumulated(self, p: torch.Tensor) -> None:
        if self._allreduce_delay[p] <= 0:
            raise AssertionError(
                "Gradients were computed more than backward_passes_per_step times before call to "
                "step(). Increase backward_passes_per_step to accumulate gradients locally."
            )
        self._allreduce_delay[p] -= 1
        if self._allreduce_delay[p] == 0:
            self._send_delta(p)
        else:
            self._handles[p] = (None, None)

    def _send_delta(self, p: torch.Tensor) -> None:
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        with torch.no_grad():
            start = p.detach().clone()
            self._starting_models[p] = start
            self._step_of(p)
            p.sub_(start)
        delta, ctx = self._compression.compress(p.detach())
        handle = allreduce_async_(delta.contiguous(), name=self._parameter_names[p], op=Adasum)
        self._handles[p] = (handle, ctx)

    def _step_of(self, p: torch.Tensor) -> None:
        """The optimizer's own step, with this one parameter."""
        stashed = [group["params"] for group in self.param_groups]
        try:
            for group in self.param_groups:
                group["params"] = [q for q in group["params"] if q is p]
            super().step()  # type: ignore[misc]
        finally:
            for group, parameters in zip(self.param_groups, stashed):
                group["params"] = parameters

    def synchronize(self) -> None:
        """Nothing to do: step() waits."""

    @contextlib.contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        """Not possible here."""
        raise AssertionError(
            "Skipping synchronization is not supported when using Adasum optimizer."
        )
        yield

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Adds the reduced changes to the weights."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for p in self._parameters():
            if p in self._requires_update and self._handles.get(p, (None,))[0] is None:
                self._send_delta(p)
        pending, self._handles = self._handles, {}
        failure: Optional[BaseException] = None
        with torch.no_grad():
            for p, (handle, ctx) in pending.items():
                start = self._starting_models.pop(p)
                try:
                    delta = self._compression.decompress(synchronize(handle), ctx)
                    p.copy_(start + delta)
                except BaseException as error:  # the weight as it was, then the error
                    if isinstance(error, KeyboardInterrupt):
                        handles.abandoned.append(p.data)
                        p.data = start
                    else:
                        p.copy_(start)
                    failure = failure or error
                self._allreduce_delay[p] = self.backward_passes_per_step
        if failure is not None:
            raise failure
        return loss

    step.hooked = True  # type: ignore[attr-defined]  # torch's step hooks run inside

    def _abandon_pending(self) -> None:
        """Forgets what is on its way without waiting; weights are what they were before it."""
        for p, start in self._starting_models.items():
            handles.abandoned.append(p.data)  # the engine may write to it until its end
            p.data = start
        self._starting_models.clear()
        self._handles.clear()
        self.set_backward_passes_per_step(self.backward_passes_per_step)

    def zero_grad(self, *args: Any, **kwargs: Any) -> None:
        """As in torch; an error while changes are on their way."""
        if self._handles:
            raise AssertionError(
                "optimizer.zero_grad() was called after loss.backward() but before "
                "optimizer.step(). This is prohibited as it can cause a race condition."
            )
        super().zero_grad(*args, **kwargs)  # type: ignore[misc]

    def set_backward_passes_per_step(self, passes: int) -> None:
        """From now on so many backward() calls before changes travel."""
        self.backward_passes_per_step = passes
        for p in self._allreduce_delay:
            self._allreduce_delay[p] = passes

    def load_state_dict(self, *args: Any, **kwargs: Any) -> None:
        """As in torch; what was on its way is finished first."""
        if self._handles:
            self.step()
        super().load_state_dict(*args, **kwargs)  # type: ignore[misc]
