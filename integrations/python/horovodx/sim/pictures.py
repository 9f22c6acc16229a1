"""The two pictures: efficiency over workers, and one step with its lanes."""

from __future__ import annotations

import math

from horovodx.sim.core import Run, Step
from horovodx.sim.svg import COLORS, Drawing, round_steps
from horovodx.sim.sweep import Point
from horovodx.sim.units import in_bytes, in_time
from horovodx.sim.workload import Workload


def efficiency_plot(title: str, points: list[Point]) -> Drawing:
    """A line for each schedule; workers on a logarithmic axis."""
    left, top, width, height = 60, 40, 620, 320
    drawing = Drawing(left + width + 130, top + height + 60)
    most = max(math.log10(point.run.workers) for point in points) or 1.0
    drawing.text(left, 22, title)
    for share in (0, 20, 40, 60, 80, 100):
        y = top + height * (1 - share / 100)
        drawing.line([(left, y), (left + width, y)], "#ddd", 1)
        drawing.text(left - 8, y + 4, f"{share} %", "end")
    for power in range(int(most + 1e-9) + 1):
        x = left + width * power / most
        drawing.line([(x, top), (x, top + height)], "#ddd", 1)
        drawing.text(x, top + height + 18, f"{10**power:,}", "middle")
    drawing.text(left + width / 2, top + height + 40, "workers", "middle")
    schedules = list(dict.fromkeys(point.run.schedule for point in points))
    for number, schedule in enumerate(schedules):
        color = COLORS[number % len(COLORS)]
        mine = sorted(
            (p for p in points if p.run.schedule == schedule), key=lambda p: p.run.workers
        )
        places = [
            (
                left + width * math.log10(p.run.workers) / most,
                top + height * (1 - min(p.efficiency, 1.0)),
            )
            for p in mine
        ]
        drawing.line(places, color)
        for x, y in places:
            drawing.box(x - 2.5, y - 2.5, 5, 5, color)
        drawing.text(left + width + 14, top + 16 + 20 * number, schedule, color=color)
    return drawing


def step_picture(workload: Workload, step: Step, run: Run) -> Drawing:
    """Lanes for computing and communication from the start of the forward pass."""
    left, width, lane = 110, 860, 46
    drawing = Drawing(left + width + 30, 230)
    end = max(
        [workload.forward + workload.backward]
        + [workload.forward + bucket.ended for bucket in step.buckets]
        + [workload.forward + bucket.gather[1] for bucket in step.buckets if bucket.gather]
    )
    scale = width / end if end > 0 else 0.0
    drawing.text(
        left,
        22,
        f"{workload.name}, {run.workers} workers, {run.schedule}: step {in_time(step.seconds)}, "
        f"exposed {in_time(step.exposed)}, {len(step.buckets)} buckets",
    )
    drawing.text(left - 10, 74, "computing", "end")
    drawing.text(left - 10, 134, "communication", "end")
    drawing.box(left, 46, workload.forward * scale, lane, "#bbbbbb", "forward")
    drawing.text(left + 6, 74, "forward")
    at = left + workload.forward * scale
    now = at
    owner = {i: number for number, b in enumerate(step.buckets) for i in range(b.first, b.end)}
    layers = workload.arriving()
    for i, layer in enumerate(layers):
        color = COLORS[owner[i] % len(COLORS)]
        title = f"backward {layer.name}: {in_time(layer.backward)}"
        drawing.box(now, 46, layer.backward * scale, lane, color, title)
        now += layer.backward * scale
    for number, bucket in enumerate(step.buckets):
        color = COLORS[number % len(COLORS)]
        title = (
            f"bucket {number}: {bucket.end - bucket.first} gradients, {in_bytes(bucket.bytes)}, "
            f"{in_time(bucket.ended - bucket.started)} by {bucket.algorithm}; waited for "
            f"{layers[bucket.waited_for].name}"
        )
        spans = [(bucket.started, bucket.ended), *([bucket.gather] if bucket.gather else [])]
        for start, stop in spans:
            drawing.box(at + start * scale, 106, (stop - start) * scale, lane, color, title)
    if step.exposed > 0 and not any(bucket.gather for bucket in step.buckets):
        drawing.line([(now, 40), (now, 160)], "#cc0000", 1)
        drawing.text(now + 4, 170, f"exposed {in_time(step.exposed)}", color="#cc0000")
    for tick in round_steps(1e3 * end, 10):
        x = left + tick * scale / 1e3
        drawing.line([(x, 182), (x, 188)], "#222", 1)
        drawing.text(x, 204, f"{tick:g}", "middle")
    drawing.line([(left, 182), (left + width, 182)], "#222", 1)
    drawing.text(left + width, 222, "milliseconds", "end")
    return drawing
