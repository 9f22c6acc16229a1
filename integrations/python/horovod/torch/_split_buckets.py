"""Buckets of gradients that are reduced in two halves: scattered in backward, gathered later.

A bucket is flat memory with a place for each of its parameters' gradients, filled up with zeros so
that every rank has the same share of it and none has nothing: then its halves can stand in a plan.
"""

import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from horovod.torch._gather import _take
from horovod.torch._tensor import TYPE_NUMBERS
from horovodx import _horovodx as native

_ALLGATHER = 1
_REDUCESCATTER = 7

SIZE_VARIABLE = "HOROVODX_SPLIT_BUCKET"
# Some 16 buckets: with few, the first and the last of them are waited for while nothing is
# computed. But none of which most is latency, and not many calls for large models.
_SMALLEST, _LARGEST = 64 << 10, 4 << 20
_WANTED, _AT_MOST = 16, 64


def bucket_bytes(total: int) -> int:
    """From how many bytes on a bucket is closed."""
    chosen = os.environ.get(SIZE_VARIABLE)
    if not chosen:
        return max(_SMALLEST, min(_LARGEST, total // _WANTED), total // _AT_MOST)
    if not chosen.isdigit() or int(chosen) < 1:
        raise ValueError(f"{SIZE_VARIABLE} must be a number of bytes above 0, not {chosen!r}")
    return int(chosen)


def cut(sizes: Sequence[Tuple[Any, int]], limit: int) -> List[List[int]]:
    """Indices of (type, bytes) pairs, in their order, as buckets of one type and `limit` bytes."""
    closed: List[List[int]] = []
    still_open: Dict[Any, Tuple[List[int], int]] = {}
    for i, (kind, size) in enumerate(sizes):
        members, filled = still_open.get(kind, ([], 0))
        members.append(i)
        still_open[kind] = (members, filled + size)
        if filled + size >= limit:
            closed.append(still_open.pop(kind)[0])
    return closed + [members for members, _ in still_open.values()]


class Bucket:
    """Some parameters, the memory their gradients travel in, and how far they have come."""

    def __init__(
        self,
        name: str,
        number: int,
        parameters: List[torch.Tensor],
        kind: torch.dtype,
        members: int,
        register: Callable[..., int],
    ) -> None:
        self.parameters = parameters
        self._kind = kind
        self._elements = sum(p.numel() for p in parameters)
        self._share = max(1, -(-self._elements // members))
        self._scatter_slot = register(
            _REDUCESCATTER, f"reducescatter.{name}", TYPE_NUMBERS[kind], [self._share * members]
        )
        # A factor of its own keeps the plan from merging it with the gathers that are ready at the
        # same time: the first modules would wait for all of them. A gather multiplies nothing.
        self._gather_slot = register(
            _ALLGATHER, f"allgather.{name}", TYPE_NUMBERS[kind], [self._share], 1.0 + number
        )
        self._members = members
        self._scattering = 0  # handles in the engine; 0: none
        self._gathering = 0
        self._renew()

    def _renew(self) -> None:
        self._flat = torch.empty(self._share * self._members, dtype=self._kind)
        self._flat[self._elements :] = 0
        self._part = torch.empty(self._share, dtype=self._kind)
        self._places = self._views(self._flat)
        self._contexts: Dict[torch.Tensor, Any] = {}

    def _views(self, flat: torch.Tensor) -> Dict[torch.Tensor, torch.Tensor]:
        pieces = flat[: self._elements].split([p.numel() for p in self.parameters])
        return {p: piece.view(p.shape) for p, piece in zip(self.parameters, pieces)}

    # --- scattering

    def put(self, p: torch.Tensor, sent: torch.Tensor, context: Any) -> None:
        """The gradient of p, as it travels; the last one sends the bucket on its way."""
        self._places[p].copy_(sent)
        self._contexts[p] = context
        if len(self._contexts) == len(self.parameters):
            self.scatter()

    def scatter(self) -> None:
        """Sends it, with zeros for what is missing, unless it has been sent."""
        if self._scattering:
            return
        for p in self.parameters:
            if p not in self._contexts:
                self._places[p].zero_()
        self._scattering = native.submit_slot(
            self._scatter_slot, self._flat.data_ptr(), self._part.data_ptr()
        )

    def has(self, p: torch.Tensor) -> bool:
        """Whether p's gradient was put into it."""
        return p in self._contexts

    @property
    def scattering(self) -> int:
        """The engine's handle of the first half."""
        return self._scattering

    # --- gathering

    def gather(self) -> None:
        """Starts the second half; the first one has ended."""
        native.release(self._scattering)
        self._scattering = 0
        self._gathering = native.submit_slot(self._gather_slot, self._part.data_ptr(), 0)

    def take(self, decompress: Callable[[Any, Any], Any]) -> Dict[torch.Tensor, torch.Tensor]:
        """Waits for the second half; the reduced gradients of those that had one."""
        native.wait(self._gathering)
        flat = _take([self._gathering], 0, self._flat)
        self._gathering = 0
        views, contexts = self._views(flat), self._contexts
        self._contexts = {}
        return {
            p: decompress(views[p].to(p.device), context) for p, context in contexts.items()
        }

    def abandon(self) -> Optional[Any]:
        """Forgets what is on its way; returns memory that the engine may use until its end."""
        used = (self._flat, self._part) if self._scattering or self._gathering else None
        native.release_all([h for h in (self._scattering, self._gathering) if h])
        self._scattering = self._gathering = 0
        self._renew()
        return used
