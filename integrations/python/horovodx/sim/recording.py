"""A recorded timeline as a model: sizes of its gradients and when they were ready, for clusters
other than the one it was recorded on."""

from __future__ import annotations

import os
import statistics

from horovodx.sim.timeline import Operation, Recorded, usual_step
from horovodx.sim.units import BadInput
from horovodx.sim.workload import Layer, Workload

_GRADIENTS = ("ALLREDUCE", "ADASUM")


def _gradients(step: Recorded) -> list[Operation]:
    return [op for group in step.groups for op in group.operations if op.kind in _GRADIENTS]


def _offsets(step: Recorded) -> dict[str, float]:
    """Seconds from the first gradient, by name."""
    found = _gradients(step)
    first = min(op.ready for op in found)
    return {op.tensor: op.ready - first for op in found}


def _alike(steps: list[Recorded], number: int) -> list[int]:
    """Steps with the same tensors; of many the later half, since first steps differ."""
    same = set(steps[number].tensors)
    numbers = [n for n, step in enumerate(steps) if set(step.tensors) == same]
    return numbers[len(numbers) // 2 :] if len(numbers) > 2 else numbers


def _forward(steps: list[Recorded], numbers: list[int]) -> float | None:
    """From the last result of a step to the first gradient of the next: the optimizer, the forward
    pass and the last layer backward. None: no step follows another."""
    gaps = [
        max(0.0, min(op.ready for op in _gradients(steps[n])) - steps[n - 1].ended)
        for n in numbers
        if n > 0
    ]
    return statistics.median(gaps) if gaps else None


def of_recording(
    steps: list[Recorded], step: int | None, path: str, batch: int, forward: float | None
) -> Workload:
    """One step of it, or what is usual; `forward` is given where the recording cannot tell."""
    number = usual_step(steps) if step is None else step
    gradients = {op.tensor: op for op in _gradients(steps[number])}
    if not gradients:
        raise BadInput(f"{path}: step {number} has no allreduce, so there are no gradients")
    numbers = _alike(steps, number) if step is None else [number]
    times = [_offsets(steps[n]) for n in numbers]
    ready = {tensor: statistics.median(t[tensor] for t in times) for tensor in gradients}
    if forward is None:
        forward = _forward(steps, numbers)
    if forward is None:
        raise BadInput(f"{path}: no step before it to take the forward pass from; --forward-ms?")
    layers, before = [], 0.0
    for tensor in sorted(ready, key=lambda name: ready[name]):
        layers.append(Layer(tensor, ready[tensor] - before, gradients[tensor].bytes))
        before = ready[tensor]
    return Workload(f"{os.path.basename(path)}, as recorded", forward, layers[::-1], batch)
