"""SplitReducer: a GradientReducer whose step() leaves updates for when parameters are next used.

A gradient is reduced in two halves. Backward scatters: each bucket leaves when its last gradient is
there, and each rank adds up its share. step() waits for that alone, sends the sums on their way
back to all ranks, and returns. The next forward gathers: before a module runs, a hook waits for the
buckets of its parameters and does the optimizer's own step for just these. So the network works in
forward too, where it is idle otherwise.

The first step is an ordinary one, in which is noted who uses what and when.
"""

import contextlib
import itertools
import warnings
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import torch
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

from horovod.torch import _flushing, _handles
from horovod.torch._allreduce import run as run_allreduce
from horovod.torch._basics import Min, set_id
from horovod.torch._gradient_forms import DENSE
from horovod.torch._gradient_optimizer import GradientReducer
from horovod.torch._split_buckets import Bucket, bucket_bytes, cut
from horovod.torch._split_modules import UsedModules
from horovod.torch._tensor import SCATTERED
from horovodx import _horovodx as native
from horovodx.errors import HorovodInternalError

Groups = List[Dict[str, Any]]
_serials = itertools.count()


class SplitReducer(GradientReducer):
    """See above, and DistributedOptimizer."""

    def _begin(self, *how: Any) -> None:
        self._buckets: List[Bucket] = []
        self._bucket_of: Dict[torch.Tensor, Bucket] = {}
        self._gather_order: List[Bucket] = []
        self._formed: Tuple[int, int] = (-1, -1)  # in which engine, after how many joins
        self._arriving: Dict[Bucket, Groups] = {}  # and what to step when it is there
        self._left: Dict[torch.Tensor, Tuple[torch.Tensor, int]] = {}  # p.grad and its version
        self._order: List[torch.Tensor] = []  # in which gradients came
        super()._begin(*how)
        self._modules = UsedModules()
        if self._requires_update:
            self._modules.start_noting()
            _flushing.remember(self)

    # --- forming buckets

    def _are_formed(self) -> bool:
        return self._formed == (_handles.generation, _handles.joins)

    def _form_buckets(self) -> None:
        """A collective: all ranks split the same parameters in the same way."""
        self._formed = (_handles.generation, _handles.joins)
        self._modules.stop_noting()
        by_name = {self._parameter_names[p]: p for p in self._agreed_parameters()}
        plan, order, serial = self._from_root((*self._planned(by_name.values()), next(_serials)))
        members = self.process_set.size() or 1
        self._buckets = [
            self._bucket(i, serial, [by_name[name] for name in names], members)
            for i, names in enumerate(plan)
        ]
        self._gather_order = [self._buckets[i] for i in order]
        self._bucket_of = {p: bucket for bucket in self._buckets for p in bucket.parameters}
        self._modules.ask(self, self._bucket_of.__contains__)
        if not self._buckets:
            warnings.warn(
                "split_allreduce: no parameter belongs to a module that was called in the first "
                "step, so that nothing is split",
                stacklevel=4,
            )

    def _agreed_parameters(self) -> List[torch.Tensor]:
        """Those that every rank can split."""
        parameters = [p for p in self._parameters() if p in self._requires_update]
        used = {p for found in self._modules.of_parameters().values() for p in found}
        can = torch.tensor(
            [p in used and self._can_be_split(p) for p in parameters], dtype=torch.int32
        )
        name = "DistributedOptimizer.split." + self._parameter_names[parameters[0]]
        run_allreduce(can, can, name, Min, 1.0, 1.0, self.process_set)
        return [p for p, all_can in zip(parameters, can.tolist()) if all_can]

    def _can_be_split(self, p: torch.Tensor) -> bool:
        if p not in self._slots or not self._forms.knows(p) or self._forms.of(p) != DENSE:
            return False
        _, kind, shape = self._slots[p][0]
        return p.numel() > 0 and kind in SCATTERED and shape == p.shape

    def _planned(self, parameters: Iterable[torch.Tensor]) -> Any:
        """Names by bucket, in the order of backward; and the buckets' order in forward."""
        place = {p: i for i, p in enumerate(self._order)}
        ordered = sorted(parameters, key=lambda p: place.get(p, len(place)))
        kinds = [self._slots[p][0][1] for p in ordered]
        sizes = [(kind, p.numel() * kind.itemsize) for p, kind in zip(ordered, kinds)]
        parts = cut(sizes, bucket_bytes(sum(size for _, size in sizes)))
        first: Dict[torch.Tensor, int] = {}
        for i, used in enumerate(self._modules.of_parameters().values()):
            for p in used:
                first.setdefault(p, i)
        forward = sorted(range(len(parts)), key=lambda b: min(first[ordered[i]] for i in parts[b]))
        return [[self._parameter_names[ordered[i]] for i in part] for part in parts], forward

    def _from_root(self, plan: Any) -> Any:
        from horovod.torch.functions import broadcast_object

        root = (self.process_set.ranks or [0])[0]
        return broadcast_object(plan, root, "DistributedOptimizer.split", self.process_set)

    def _bucket(
        self, number: int, serial: int, parameters: List[torch.Tensor], members: int
    ) -> Bucket:
        kind = self._slots[parameters[0]][0][1]

        def register(what: int, name: str, type: int, shape: List[int], factor: float = 1.0) -> int:
            return native.register_slot(
                what, name, type, shape, self.op, factor, 1.0, set_id(self.process_set)
            )

        # The parameters of another optimizer may have the same names and other sizes.
        name = f"split.{serial}.{self._parameter_names[parameters[0]]}"
        return Bucket(name, number, parameters, kind, members, register)

    # --- backward

    def _when_accumulated(self, p: torch.Tensor) -> None:
        if self._arriving and self._bucket_of.get(p) in self._arriving:
            raise RuntimeError(
                f"parameter '{self._parameter_names[p]}' was used while its update was on its way, "
                "without a call of the module that it belonged to in the first step: call "
                "optimizer.flush() before that, or do without split_allreduce"
            )
        super()._when_accumulated(p)

    def _send_one(self, p: torch.Tensor) -> Tuple[Any, Any]:
        bucket = self._bucket_of.get(p) if self._are_formed() else None
        if bucket is None:
            return super()._send_one(p)
        sent, context = self._made_ready(self._gradient_of(p))
        bucket.put(p, sent, context)
        return bucket, context

    # --- between backward and forward

    def _reduce(self) -> List[Bucket]:
        """Ends the first half; the second is under way for the buckets returned."""
        if self._requires_update:
            self._send_the_rest()
        self._order = list(self._handles)
        formed = self._are_formed()
        try:
            if formed:
                for bucket in self._buckets:
                    bucket.scatter()
                native.wait_all([bucket.scattering for bucket in self._buckets])
                for bucket in self._gather_order:
                    bucket.gather()
            self._receive_all()
        except BaseException:
            self._abandon_pending()
            raise
        return list(self._gather_order) if formed else []

    def _receive(self, p: torch.Tensor, handle: Any) -> None:
        if not isinstance(handle, Bucket):
            super()._receive(p, handle)

    def synchronize(self) -> None:
        """Waits until all gradients are reduced on all ranks, and nothing is left for later."""
        self.flush()
        for bucket in self._reduce():
            for p, reduced in self._take(bucket).items():
                if p.grad is not None:
                    _set(p, reduced)

    def _take(self, bucket: Bucket) -> Dict[torch.Tensor, torch.Tensor]:
        return bucket.take(self._compression.decompress)

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Waits for sums, not for their way back: the next use of a parameter waits for that."""
        self.flush()
        simple = closure is None and self._should_synchronize and not self._synchronized
        if not simple or not self._requires_update:
            return super().step(closure)
        if not self._are_formed():
            super().step()
            self._form_buckets()
        elif not self._buckets or self._is_watched():
            super().step()
        else:
            self._step_later()
        return None

    step.hooked = True  # type: ignore[attr-defined]

    def _is_watched(self) -> bool:
        """Somebody wants to see all gradients and parameters at once, before or after a step."""
        return bool(
            self._optimizer_step_pre_hooks  # type: ignore[attr-defined]
            or self._optimizer_step_post_hooks  # type: ignore[attr-defined]
            or _global_optimizer_pre_hooks
            or _global_optimizer_post_hooks
            or hasattr(self, "grad_scale")  # a GradScaler that is there for this call only
            or hasattr(self, "found_inf")
        )

    def _step_later(self) -> None:
        buckets = self._reduce()
        self._synchronized = False
        now: Groups = []
        later: Dict[Bucket, Groups] = {bucket: [] for bucket in buckets}
        self._left = {}
        for group in self.param_groups:
            options = {key: _as_it_is(value) for key, value in group.items() if key != "params"}
            by_bucket: Dict[Optional[Bucket], List[torch.Tensor]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    bucket = self._bucket_of.get(p)
                    sent = bucket is not None and bucket.has(p)
                    by_bucket.setdefault(bucket if sent else None, []).append(p)
            for bucket, parameters in by_bucket.items():
                to = now if bucket is None else later[bucket]
                to.append({**options, "params": parameters})
                if bucket is not None:
                    self._left.update((p, _seen(p)) for p in parameters)
        self._arriving = later
        if now:
            self._step_for(now)

    # --- forward

    def _before_use(self, parameters: List[torch.Tensor]) -> None:
        for p in parameters:
            bucket = self._bucket_of.get(p)
            if bucket in self._arriving:
                self._update(bucket)  # type: ignore[arg-type]

    def flush(self) -> None:
        """Does all that step() left for later: afterwards parameters are up to date.

        Waits for nobody who does not come to step(); a rank may call it alone.
        """
        for bucket in list(self._arriving):
            self._update(bucket)

    def _update(self, bucket: Bucket) -> None:
        # Forward may be in inference mode or autocast; what the optimizer does must not be.
        with torch.inference_mode(False), torch.no_grad(), _no_autocast(bucket):
            reduced = self._take(bucket)
            groups = self._arriving.pop(bucket)
            cleared = []
            for p in (p for group in groups for p in group["params"]):
                gradient, version = self._left.pop(p)
                if p.grad is gradient and gradient._version == version:
                    _set(p, reduced[p])
                else:  # zero_grad() has been called since
                    cleared.append((p, p.grad))
                    p.grad = reduced[p]
            try:
                if groups:
                    self._step_for(groups)
            finally:
                for p, gradient in cleared:
                    p.grad = gradient

    def _step_for(self, groups: Groups) -> None:
        """The optimizer's own step, as if it had these groups only."""
        before = [dict(group) for group in groups]
        all_groups = self.param_groups
        self.param_groups = groups
        try:
            super(GradientReducer, self).step()  # type: ignore[misc]
        finally:
            self.param_groups = all_groups
        for old, new in zip(before, groups):
            for key in new:
                if key not in old or new[key] is not old[key]:
                    raise RuntimeError(
                        f"{type(self).__name__}.step() sets '{key}' of a parameter group, which "
                        "parameters share: it does not go with split_allreduce"
                    )

    # --- whoever looks at the state or ends it

    def _abandon_arriving(self) -> None:
        """Updates that can't be done any more are not."""
        for bucket in self._buckets:
            _handles.abandoned.append(bucket.abandon())
        self._arriving = {}
        self._left = {}

    def _abandon_pending(self) -> None:
        self._abandon_arriving()
        super()._abandon_pending()

    def state_dict(self) -> Any:
        """As in torch, after all updates."""
        self.flush()
        return super().state_dict()  # type: ignore[misc]

    def load_state_dict(self, *args: Any, **kwargs: Any) -> None:
        """As in torch; what was on its way is forgotten, updates of an earlier step are done."""
        try:
            self.flush()
        except HorovodInternalError:
            self._abandon_arriving()
        if self._handles:
            with contextlib.suppress(Exception):  # as of those that are not split
                native.wait_all([b.scattering for b in self._buckets if b.scattering])
            self._abandon_arriving()
        super().load_state_dict(*args, **kwargs)

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        """As in torch; new parameters are reduced by themselves and in one go."""
        if hasattr(self, "_arriving"):
            self.flush()
        super().add_param_group(param_group)

    def __getstate__(self) -> Any:
        self.flush()
        return super().__getstate__()  # type: ignore[misc]


def _set(p: torch.Tensor, reduced: torch.Tensor) -> None:
    """The gradient in the place where the unreduced one was."""
    assert p.grad is not None
    if p.grad.is_sparse:
        p.grad = reduced.clone()
    else:
        p.grad.copy_(reduced)


def _seen(p: torch.Tensor) -> Tuple[torch.Tensor, int]:
    """The gradient, and by what it is known whether anybody has written to it."""
    assert p.grad is not None
    return p.grad, p.grad._version


def _as_it_is(value: Any) -> Any:
    """An option that others may change from now on, tensors in place."""
    return value.clone() if isinstance(value, torch.Tensor) else value


def _no_autocast(bucket: Bucket) -> Any:
    return torch.autocast(bucket.parameters[0].device.type, enabled=False)
