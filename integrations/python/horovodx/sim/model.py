"""A model as the simulator sees it: gradients in forward order, and the computing behind each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

# What a value that is normalised costs, in multiply-adds: these layers are bound by memory, and a
# pass over a value and back takes about as long as so many multiply-adds of a convolution.
NORM_COST = 80.0


@dataclass
class Gradient:
    """One tensor: its elements, and the forward multiply-adds of an example in its layer."""

    name: str
    elements: int
    work: float = 0.0


@dataclass
class Model:
    """Gradients in forward order. Work counts for one example of the batch."""

    name: str
    about: str
    gradients: list[Gradient] = field(default_factory=list)

    @property
    def elements(self) -> int:
        return sum(g.elements for g in self.gradients)

    @property
    def work(self) -> float:
        return sum(g.work for g in self.gradients)

    def layer(self, name: str, tensors: dict[str, int], work: float) -> None:
        """A layer's tensors. They are ready together, so the work goes to the one that comes
        first on the way back."""
        for key, elements in tensors.items():
            self.gradients.append(Gradient(f"{name}.{key}", elements))
        self.gradients[-1].work = float(work)

    def linear(self, name: str, inputs: int, outputs: int, rows: int = 1, more: float = 0) -> None:
        """A matrix and a bias, applied to so many rows; `more` work of the same layer besides."""
        work = rows * inputs * outputs + more
        self.layer(name, {"weight": inputs * outputs, "bias": outputs}, work)

    def norm(self, name: str, width: int, values: int) -> None:
        """Scale and shift by channel, for so many values in all."""
        self.layer(name, {"weight": width, "bias": width}, NORM_COST * values)


@dataclass
class Image:
    """Follows an image through convolutions and adds their gradients to a model."""

    model: Model
    channels: int
    height: int
    width: int

    def branch(self) -> Image:
        """Another way on from here."""
        return Image(self.model, self.channels, self.height, self.width)

    def shrink(self, kernel: int, stride: int, pad: int = 0, ceil: bool = False) -> None:
        """Pooling: no gradients."""
        up = stride - 1 if ceil else 0
        self.height = (self.height + 2 * pad - kernel + up) // stride + 1
        self.width = (self.width + 2 * pad - kernel + up) // stride + 1

    def conv(
        self,
        name: str,
        out: int,
        kernel: int | tuple[int, int],
        stride: int = 1,
        pad: int | tuple[int, int] | None = None,
        bias: bool = False,
    ) -> Image:
        """A convolution; padded so that stride 1 keeps the size, unless said otherwise."""
        kh, kw = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        if pad is None:
            pad = (kh // 2, kw // 2)
        ph, pw = pad if isinstance(pad, tuple) else (pad, pad)
        self.height = (self.height + 2 * ph - kh) // stride + 1
        self.width = (self.width + 2 * pw - kw) // stride + 1
        weights = self.channels * out * kh * kw
        tensors = {"weight": weights, "bias": out} if bias else {"weight": weights}
        self.channels = out
        self.model.layer(name, tensors, weights * self.height * self.width)
        return self

    def norm(self, name: str) -> Image:
        self.model.norm(name, self.channels, self.channels * self.height * self.width)
        return self

    def conv_norm(
        self,
        name: str,
        out: int,
        kernel: int | tuple[int, int],
        stride: int = 1,
        pad: int | None = None,
    ) -> Image:
        self.conv(f"{name}.conv", out, kernel, stride, pad)
        return self.norm(f"{name}.bn")


Maker = Callable[[], Model]
