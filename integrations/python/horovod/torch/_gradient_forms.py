"""Whether a gradient is dense or sparse: the ranks agree on it once for every parameter.

A rank that does not use a parameter cannot see that its gradient is sparse elsewhere, and would
bring dense zeros to an allreduce to which nobody comes. So when gradients of a parameter travel for
the first time, one small allreduce tells all ranks in which forms they have it.
"""

from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import torch

from horovod.common.process_sets import ProcessSet
from horovod.torch import _handles as handles
from horovod.torch._basics import Sum, set_id
from horovod.torch._tensor import TYPE_NUMBERS
from horovodx import _horovodx as native

_ALLREDUCE = 0
DENSE = 0  # a form is a number of sparse dimensions; this is none


def form_of(gradient: torch.Tensor) -> int:
    """The form in which a gradient is."""
    return gradient.sparse_dim() if gradient.is_sparse else DENSE


def in_form(gradient: torch.Tensor, form: int) -> torch.Tensor:
    """The same gradient in this form."""
    if form_of(gradient) == form:
        return gradient
    dense = gradient.to_dense()
    return dense if form == DENSE else dense.to_sparse(form)


def zeros_in_form(p: torch.Tensor, form: int) -> torch.Tensor:
    """A gradient of p that is zero everywhere."""
    if form == DENSE:
        return torch.zeros_like(p)
    return torch.sparse_coo_tensor(
        torch.empty((form, 0), dtype=torch.int64, device=p.device),
        torch.empty((0, *p.shape[form:]), dtype=p.dtype, device=p.device),
        p.shape,
        check_invariants=False,
    )


class GradientForms:
    """What was agreed: the same on all ranks, since they forget and ask together."""

    def __init__(self, before: int) -> None:
        self._before = before  # the form while no rank has ever had a gradient
        self._agreed: Dict[torch.Tensor, int] = {}
        self._since: Tuple[int, int] = (-1, -1)
        self._question: Optional[Tuple[int, List[torch.Tensor], torch.Tensor]] = None

    def knows(self, p: torch.Tensor) -> bool:
        """Whether the form of p's gradient has been agreed on."""
        if self._since != (handles.generation, handles.joins):
            # Another engine, or a rank that had joined and asks again: all start anew.
            self._agreed.clear()
            self._question = None
            self._since = (handles.generation, handles.joins)
        return p in self._agreed

    def of(self, p: torch.Tensor) -> int:
        """The form of p's gradient on all ranks; on this one, until they have agreed."""
        form = self._agreed.get(p)
        if form is None:
            return self._before if p.grad is None else form_of(p.grad)
        return form

    def agree(
        self,
        parameters: Sequence[torch.Tensor],
        names: Mapping[torch.Tensor, str],
        process_set: ProcessSet,
    ) -> Dict[torch.Tensor, int]:
        """Asks the others for those that are not known yet; a collective, if there are any.

        Where forms differ it is dense; returned are those parameters, and their sparse form. What
        no rank has a gradient of stays open.
        """
        asked = [p for p in parameters if not self.knows(p)]
        if self._question is not None:  # somebody was interrupted while waiting for the answer
            self._answer()
            asked = [p for p in asked if not self.knows(p)]
        if not asked:
            return {}
        counts = torch.zeros((len(asked), 1 + max(p.dim() for p in asked)), dtype=torch.int32)
        for i, p in enumerate(asked):
            if p.grad is not None:
                counts[i, form_of(p.grad)] = 1
        handle = native.submit(
            _ALLREDUCE,
            "DistributedOptimizer.forms." + names[asked[0]],
            TYPE_NUMBERS[counts.dtype],
            counts.shape,
            counts.data_ptr(),
            counts.data_ptr(),
            Sum,  # a rank that has joined adds nothing
            process_set=set_id(process_set),
        )
        self._question = handle, asked, counts
        return self._answer()

    def _answer(self) -> Dict[torch.Tensor, int]:
        assert self._question is not None
        handle, asked, counts = self._question
        try:
            native.wait(handle)
        except KeyboardInterrupt:
            raise  # the others go on: it is waited for next time
        except BaseException:
            self._question = None
            native.release(handle)
            raise
        self._question = None
        native.release(handle)
        mixed: Dict[torch.Tensor, int] = {}
        for p, row in zip(asked, counts.tolist()):
            seen: List[int] = [form for form, ranks in enumerate(row) if ranks]
            if seen:
                self._agreed[p] = seen[0] if len(seen) == 1 else DENSE
            if len(seen) > 1:
                mixed[p] = seen[1]
        return mixed
