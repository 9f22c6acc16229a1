"""GradientReducer: the half of a DistributedOptimizer that reduces gradients.

It stands before the optimizer's own class: step() here reduces, step() there moves the weights.
Gradients are submitted from hooks, by slot: the engine is told once what it must know of each.
"""

import contextlib
import os
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

import torch

from horovod.common.process_sets import ProcessSet
from horovod.common.util import split_list
from horovod.torch import _handles as handles
from horovod.torch._allreduce import sparse_allreduce_async
from horovod.torch._basics import Average, Sum, set_id, size
from horovod.torch._gradient_forms import DENSE, GradientForms, in_form, zeros_in_form
from horovod.torch._parameter_names import Named, find_duplicates, names_for
from horovod.torch._tensor import REDUCED, TYPE_NUMBERS, check, on_host
from horovod.torch.compression import NoneCompressor
from horovodx import _horovodx as native

_ALLREDUCE = 0


class _Sent:
    """A dense gradient on its way: the engine's handle and the memory it works on."""

    __slots__ = ("handle", "gradient", "sent", "ctx")

    def __init__(
        self, handle: int, gradient: torch.Tensor, sent: torch.Tensor, ctx: Any
    ) -> None:
        self.handle = handle
        self.gradient = gradient  # p.grad, or its dense form
        self.sent = sent  # contiguous, on the CPU; often the gradient itself
        self.ctx = ctx


class GradientReducer:
    """See DistributedOptimizer. Attributes have the names that other packages look for."""

    param_groups: List[Dict[str, Any]]
    find_duplicates = staticmethod(find_duplicates)

    def _begin(
        self,
        named_parameters: Named,
        compression: Any,
        backward_passes_per_step: int,
        op: int,
        gradient_predivide_factor: float,
        groups: Any,
        sparse_as_dense: bool,
        process_set: ProcessSet,
    ) -> None:
        self._compression = compression
        self.backward_passes_per_step = backward_passes_per_step
        self.op = op
        self.gradient_predivide_factor = gradient_predivide_factor
        self.sparse_as_dense = sparse_as_dense
        self.process_set = process_set
        self._parameter_names = names_for(
            self, named_parameters, lambda i, j: f"allreduce.noname.{i}.{j}"
        )
        self._handles: Dict[torch.Tensor, Tuple[Any, Any]] = {}
        self._allreduce_delay: Dict[torch.Tensor, int] = {}
        self._requires_update: Set[torch.Tensor] = set()
        self._synchronized = False
        self._should_synchronize = True
        self._slots: Dict[torch.Tensor, Tuple[Any, ...]] = {}
        self._forms = GradientForms(1 if isinstance(self, torch.optim.SparseAdam) else DENSE)
        self._sent_early: Dict[torch.Tensor, int] = {}  # before ranks agreed; and in which form
        self._sent_too: Dict[torch.Tensor, Any] = {}  # zeros, where others sent another form
        self._group_of: Dict[torch.Tensor, List[torch.Tensor]] = {}
        self._waiting_in_group: Dict[int, Set[torch.Tensor]] = {}
        self._hooks: List[Any] = []
        elastic = os.environ.get("HOROVOD_ELASTIC") == "1"
        if process_set.included() and (size() > 1 or elastic):
            self._make_groups(groups)
            self._register_hooks(self._parameters())

    # --- parameters and groups

    def _parameters(self) -> List[torch.Tensor]:
        """Those that get gradients, in the optimizer's order."""
        return [p for group in self.param_groups for p in group["params"] if p.requires_grad]

    def _make_groups(self, groups: Any) -> None:
        if groups is None:
            return
        if isinstance(groups, int):
            from horovod.torch.functions import broadcast_object

            by_name = {self._parameter_names[p]: p for p in self._parameters()}
            root = (self.process_set.ranks or [0])[0]
            order = broadcast_object(
                list(by_name), root, "DistributedOptimizer.groups", self.process_set
            )
            groups = split_list([by_name[name] for name in order], groups)
        for group in groups:
            members = [p for p in group if p.requires_grad]
            for p in members:
                self._group_of[p] = members

    def _register_hooks(self, parameters: List[torch.Tensor]) -> None:
        for p in parameters:
            if p not in self._requires_update:
                self._requires_update.add(p)
                self._allreduce_delay[p] = self.backward_passes_per_step
                hook = p.register_post_accumulate_grad_hook(self._when_accumulated)  # type: ignore[attr-defined]
                self._hooks.append(hook)

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        """As in torch; the new parameters are reduced too."""
        super().add_param_group(param_group)  # type: ignore[misc]
        if not hasattr(self, "_parameter_names"):
            return
        group = len(self.param_groups) - 1
        for i, p in enumerate(self.param_groups[group]["params"]):
            self._parameter_names.setdefault(p, f"allreduce.noname.{group}.{i}")
        if self._requires_update:
            self._register_hooks(self._parameters())

    # --- sending

    def _when_accumulated(self, p: torch.Tensor) -> None:
        """The hook: a backward() has added to p.grad."""
        delay = self._allreduce_delay[p]
        if delay <= 0:
            raise AssertionError(
                "Gradients were computed more than backward_passes_per_step times before call to "
                "step(). Increase backward_passes_per_step to accumulate gradients locally."
            )
        self._allreduce_delay[p] = delay - 1
        if delay != 1:
            self._handles[p] = (None, None)  # more is to come
        elif self._forms.knows(p):
            self._send(p)
        elif p in self._group_of:
            self._handles[p] = (None, None)  # who goes alone is not known: synchronize() sends it
        else:
            self._sent_early[p] = DENSE if self.sparse_as_dense else self._forms.of(p)
            self._send(p)

    def _send(self, p: torch.Tensor) -> None:
        """Submits the gradient of p, or notes that its group has one member more."""
        self._handles[p] = (None, None)
        sparse = self._goes_alone(p)
        group = self._group_of.get(p)
        if sparse or group is None:
            self._handles[p] = self._send_one(p)
        if group is None:
            return
        ready = self._waiting_in_group.setdefault(id(group), set())
        if not sparse:
            ready.add(p)
        # A sparse member goes by itself: the others do not wait for it, once all ranks know.
        if ready and all(q in ready or self._surely_goes_alone(q) for q in group):
            del self._waiting_in_group[id(group)]
            self._send_group([q for q in group if q in ready])

    def _surely_goes_alone(self, p: torch.Tensor) -> bool:
        return self._goes_alone(p) and (p.grad is None or self._forms.knows(p))

    def _goes_alone(self, p: torch.Tensor) -> bool:
        """As a sparse gradient, by allgather."""
        return self._forms.of(p) != DENSE and not self.sparse_as_dense

    def _send_one(self, p: torch.Tensor) -> Tuple[Any, Any]:
        return self._send_alone(p, self._gradient_of(p))

    def _send_alone(self, p: torch.Tensor, gradient: torch.Tensor) -> Tuple[Any, Any]:
        if gradient.is_sparse:
            name = self._parameter_names[p]
            return sparse_allreduce_async(gradient, name, self.op, self.process_set), None
        sent, ctx = self._made_ready(gradient)
        address = sent.data_ptr()
        handle = native.submit_slot(self._slot_for(p, sent), address, address)
        return _Sent(handle, gradient, sent, ctx), ctx

    def _send_group(self, group: List[torch.Tensor]) -> None:
        base = "grouped_allreduce." + self._parameter_names[group[0]]
        gradients = [self._gradient_of(p) for p in group]
        ready = [self._made_ready(gradient) for gradient in gradients]
        addresses = [sent.data_ptr() for sent, _ in ready]
        native_handles = native.submit_group(
            _ALLREDUCE,
            [f"{base}_{i + 1}of{len(group)}" for i in range(len(group))],
            [TYPE_NUMBERS[sent.dtype] for sent, _ in ready],
            [sent.shape for sent, _ in ready],
            addresses,
            addresses,
            self.op,
            *self._factors(),
            set_id(self.process_set),
        )
        for p, gradient, (sent, ctx), handle in zip(group, gradients, ready, native_handles):
            self._handles[p] = (_Sent(handle, gradient, sent, ctx), ctx)

    def _gradient_of(self, p: torch.Tensor) -> torch.Tensor:
        """p.grad as it travels; zeros if there is none, since other ranks may have one."""
        if p.grad is None:
            p.grad = zeros_in_form(p, self._forms.of(p))
        return in_form(p.grad, DENSE if self.sparse_as_dense else self._forms.of(p))

    def _made_ready(self, gradient: torch.Tensor) -> Tuple[torch.Tensor, Any]:
        """What travels: compressed, contiguous and on the CPU."""
        sent, ctx = gradient, None
        if self._compression is not NoneCompressor:
            sent, ctx = self._compression.compress(gradient)
        sent = on_host(sent)
        if not sent.is_contiguous():
            sent = sent.contiguous()
        return sent, ctx

    def _factors(self) -> Tuple[float, float]:
        """By what is multiplied before and after adding up."""
        if self.op != Average:
            return 1.0, 1.0
        return 1.0 / self.gradient_predivide_factor, self.gradient_predivide_factor

    def _slot_for(self, p: torch.Tensor, sent: torch.Tensor) -> int:
        known = self._slots.get(p)
        key = (handles.generation, sent.dtype, sent.shape)
        if known is not None and known[0] == key:
            return int(known[1])
        check(sent, REDUCED)
        slot: int = native.register_slot(
            _ALLREDUCE,
            "allreduce." + self._parameter_names[p],
            TYPE_NUMBERS[sent.dtype],
            sent.shape,
            self.op,
            *self._factors(),
            set_id(self.process_set),
        )
        self._slots[p] = (key, slot)
        return slot

    # --- receiving

    def synchronize(self) -> None:
        """Waits until all gradients are reduced; those not sent yet are sent now."""
        if self._requires_update:
            self._send_the_rest()
        self._receive_all()

    def _receive_all(self) -> None:
        pending = dict(self._handles)
        too = dict(self._sent_too)
        both = [h for h, _ in pending.values()] + list(too.values())
        native_handles = [h.handle for h in both if isinstance(h, _Sent)]
        try:
            native.wait_all(native_handles)
            for p, (handle, _) in pending.items():
                self._receive(p, handle)
            for p, handle in too.items():
                self._add(p, handle)
        except KeyboardInterrupt:
            handles.abandoned.append((pending, too))
            raise
        finally:
            native.release_all(native_handles)
            self._forget_pending()
        self._synchronized = True

    def _send_the_rest(self) -> None:
        parameters = [p for p in self._parameters() if p in self._requires_update]
        rest = [p for p in parameters if self._handles.get(p, (None,))[0] is None]
        if not rest and not self._sent_early:
            return
        try:
            # Whatever is open was sent early or is among the rest: all ranks get here, or none.
            mixed = self._forms.agree(parameters, self._parameter_names, self.process_set)
            for p in rest:
                if self._handles.get(p, (None,))[0] is None and not self._waits_in_group(p):
                    self._send(p)
            for p, form in mixed.items():
                self._send_other_form(p, form)
        except BaseException:
            # Others may never send what is on its way: nobody waits, and its memory is kept.
            self._abandon_pending()
            raise

    def _send_other_form(self, p: torch.Tensor, form: int) -> None:
        """Nothing, in the form that this rank has not sent: others sent theirs early."""
        if p not in self._group_of and not self.sparse_as_dense:
            other = form if self._sent_early.get(p, DENSE) == DENSE else DENSE
            self._sent_too[p] = self._send_alone(p, zeros_in_form(p, other))[0]

    def _waits_in_group(self, p: torch.Tensor) -> bool:
        group = self._group_of.get(p)
        return group is not None and p in self._waiting_in_group.get(id(group), ())

    def _receive(self, p: torch.Tensor, handle: Any) -> None:
        if not isinstance(handle, _Sent):
            p.grad = handle()  # sparse
            return
        form = self._forms.of(p)
        if handle.sent is handle.gradient is p.grad and form == DENSE:
            return
        result = self._result(handle)
        if form != DENSE or (p.grad is not None and p.grad.is_sparse):
            p.grad = in_form(result, form)
        elif p.grad is not None and result is not p.grad:
            p.grad.copy_(result)

    def _result(self, handle: _Sent) -> Any:
        return self._compression.decompress(handle.sent.to(handle.gradient.device), handle.ctx)

    def _add(self, p: torch.Tensor, handle: Any) -> None:
        """What came in the other form."""
        result = self._result(handle) if isinstance(handle, _Sent) else handle()
        if p.grad is not None:
            p.grad = in_form(p.grad, DENSE) + in_form(result, DENSE)

    def _abandon_pending(self) -> None:
        """Forgets what is on its way without waiting; the engine may write to it until its end."""
        for p, (handle, _) in self._handles.items():
            if handle is not None:
                handles.abandoned.append((handle, p.grad))
                p.grad = None
        handles.abandoned.extend(self._sent_too.values())
        self._forget_pending()
        self._synchronized = False

    def _forget_pending(self) -> None:
        self._handles.clear()
        self._sent_early.clear()
        self._sent_too.clear()
        self._waiting_in_group.clear()
        for p in self._allreduce_delay:
            self._allreduce_delay[p] = self.backward_passes_per_step

    # --- what the training loop calls

    @contextlib.contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        """For `synchronize(); clip or unscale; with optimizer.skip_synchronize(): step()`."""
        self._should_synchronize = False
        try:
            yield
        finally:
            self._should_synchronize = True

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Waits for the reduced gradients, then does the optimizer's own step."""
        if self._should_synchronize:
            if self._synchronized:
                warnings.warn(
                    "optimizer.step() called without optimizer.skip_synchronize() context after "
                    "optimizer.synchronize(): gradients are reduced twice, which costs time. Put "
                    "step() into `with optimizer.skip_synchronize():`.",
                    stacklevel=2,
                )
            if closure is None or self._handles:
                self.synchronize()
            if closure is not None and self._requires_update:
                closure = self._with_reduced_gradients(closure)
        self._synchronized = False
        return super().step(closure)  # type: ignore[misc]

    step.hooked = True  # type: ignore[attr-defined]  # torch's step hooks run inside, once

    def _with_reduced_gradients(self, closure: Callable[[], Any]) -> Callable[[], Any]:
        """A closure after which gradients are reduced, however often the optimizer calls it."""

        def reduced() -> Any:
            loss = closure()
            self.synchronize()
            self._synchronized = False
            if isinstance(self, torch.optim.LBFGS):
                # Its line search decides by the loss: all ranks must see the same one.
                from horovod.torch._differentiable import allreduce

                loss = allreduce(
                    torch.as_tensor(loss).detach().clone(),
                    name="loss.closure",
                    op=Sum if self.op == Sum else Average,  # the loss that the gradients are of
                    process_set=self.process_set,
                )
            return loss

        return reduced

    def flush(self) -> None:
        """Nothing: step() has left nothing for later, as it does with split_allreduce."""

    def zero_grad(self, *args: Any, **kwargs: Any) -> None:
        """As in torch; an error while gradients are on their way."""
        if self._handles:
            raise AssertionError(
                "optimizer.zero_grad() was called after loss.backward() but before "
                "optimizer.step() or optimizer.synchronize(). This is prohibited as it can cause "
                "a race condition."
            )
        super().zero_grad(*args, **kwargs)  # type: ignore[misc]

    def set_backward_passes_per_step(self, passes: int) -> None:
        """From now on so many backward() calls before gradients travel."""
        self.backward_passes_per_step = passes
        for p in self._allreduce_delay:
            self._allreduce_delay[p] = passes

    def load_state_dict(self, *args: Any, **kwargs: Any) -> None:
        """As in torch; what was on its way is forgotten."""
        pending = [h.handle for h, _ in self._handles.values() if isinstance(h, _Sent)]
        with contextlib.suppress(Exception):  # their errors concern nobody any more
            native.wait_all(pending)
        native.release_all(pending)
        self._forget_pending()
        self._synchronized = False
        super().load_state_dict(*args, **kwargs)  # type: ignore[misc]
