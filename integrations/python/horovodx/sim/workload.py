"""What a worker computes in a step: layers with times, from a model and a device or a file."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from horovodx.sim.model import Model
from horovodx.sim.units import BadInput


@dataclass
class Layer:
    """One gradient."""

    name: str
    backward: float  # seconds
    bytes: int


@dataclass
class Workload:
    """A step of one worker; layers in forward order."""

    name: str
    forward: float
    layers: list[Layer]
    batch: int = 1

    @property
    def backward(self) -> float:
        return sum(layer.backward for layer in self.layers)

    @property
    def bytes(self) -> int:
        return sum(layer.bytes for layer in self.layers)

    def arriving(self) -> list[Layer]:
        """In the order in which gradients become ready."""
        return self.layers[::-1]

    def scaled(self, forward: float | None, backward: float | None) -> Workload:
        """The same with other times for the two passes."""
        ratio = 1.0 if backward is None else backward / max(self.backward, 1e-30)
        layers = [Layer(x.name, x.backward * ratio, x.bytes) for x in self.layers]
        return Workload(self.name, self.forward if forward is None else forward, layers, self.batch)


def of_model(model: Model, batch: int, element_bytes: int, flops: float) -> Workload:
    """On a device that sustains so many operations a second. A multiply-add is two of them, and
    the backward pass does the work of the forward pass twice."""
    per_work = 2.0 * batch / flops
    layers = [
        Layer(g.name, 2.0 * g.work * per_work, g.elements * element_bytes) for g in model.gradients
    ]
    return Workload(model.name, model.work * per_work, layers, batch)


def at_rate(workload: Workload, examples_per_second: float) -> Workload:
    """The same on a worker that alone trains so many examples a second: a third of a step forward,
    two thirds backward."""
    step = workload.batch / examples_per_second
    return workload.scaled(step / 3.0, 2.0 * step / 3.0)


def _number(value: Any, where: str) -> float:
    ok = isinstance(value, int | float) and not isinstance(value, bool)
    if not ok or not math.isfinite(value) or value < 0:
        raise BadInput(f"{where}: {value!r} is not a number of at least 0")
    return float(value)


def _gradient(item: Any, where: str, element_bytes: int) -> Layer:
    if not isinstance(item, dict):
        raise BadInput(f"{where}: {item!r} is not an object")
    for key in item:
        if key not in ("name", "elements", "bytes", "backward_ms"):
            known = "name, elements, bytes, backward_ms"
            raise BadInput(f"{where}: no field '{key}'; there are {known}")
    if ("bytes" in item) == ("elements" in item):
        raise BadInput(f"{where}: needs either 'bytes' or 'elements'")
    if "backward_ms" not in item:
        raise BadInput(f"{where}: needs 'backward_ms'")
    size = (
        _number(item["bytes"], f"{where}.bytes")
        if "bytes" in item
        else (_number(item["elements"], f"{where}.elements") * element_bytes)
    )
    if size != int(size) or size > 2**50:
        raise BadInput(f"{where}: {size:g} is not a number of bytes")
    backward = _number(item["backward_ms"], f"{where}.backward_ms") / 1e3
    return Layer(str(item.get("name", where)), backward, int(size))


def load_json(path: str) -> Any:
    """A JSON file; an error says where it is broken."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON: {error}") from error


def of_object(data: Any, path: str, element_bytes: int) -> Workload:
    """{"name", "batch", "forward_ms", "gradients": [{"name", "elements" or "bytes",
    "backward_ms"}, ...]}, gradients in forward order, as it was read from a file."""
    if not isinstance(data, dict) or not isinstance(data.get("gradients"), list):
        raise BadInput(f"{path}: needs an object with a list 'gradients'")
    layers = [
        _gradient(item, f"{path}: gradients[{i}]", element_bytes)
        for i, item in enumerate(data["gradients"])
    ]
    if not layers:
        raise BadInput(f"{path}: gradients: is empty")
    batch = _number(data.get("batch", 1), f"{path}: batch")
    if batch != int(batch) or batch < 1:
        raise BadInput(f"{path}: batch: {batch:g} is not a whole number of at least 1")
    default = 500 * sum(layer.backward for layer in layers)
    forward = _number(data.get("forward_ms", default), f"{path}: forward_ms") / 1e3
    return Workload(str(data.get("name", path)), forward, layers, int(batch))
