"""Inception-v4 (Szegedy et al. 2016, figures 3 to 9): 299x299 images, 1000 classes."""

from __future__ import annotations

from horovodx.sim.model import Image, Model

# A way through a block: (output channels, kernel), one convolution after another.
Kernel = int | tuple[int, int]
Step = tuple[int, Kernel]

_A: list[list[Step]] = [[(96, 1)], [(64, 1), (96, 3)], [(64, 1), (96, 3), (96, 3)], [(96, 1)]]
_B: list[list[Step]] = [
    [(384, 1)],
    [(192, 1), (224, (1, 7)), (256, (7, 1))],
    [(192, 1), (192, (7, 1)), (224, (1, 7)), (224, (7, 1)), (256, (1, 7))],
    [(128, 1)],
]


def _block(at: Image, name: str, ways: list[list[Step]]) -> None:
    out = 0
    for way, steps in enumerate(ways):
        end = at.branch()
        for number, (channels, kernel) in enumerate(steps):
            end.conv_norm(f"{name}.branch{way}.{number}", channels, kernel)
        out += end.channels
    at.channels = out


def _block_c(at: Image, name: str) -> None:
    at.branch().conv_norm(f"{name}.branch0", 256, 1)
    way = at.branch().conv_norm(f"{name}.branch1.0", 384, 1)
    way.branch().conv_norm(f"{name}.branch1.1a", 256, (1, 3))
    way.branch().conv_norm(f"{name}.branch1.1b", 256, (3, 1))
    way = at.branch().conv_norm(f"{name}.branch2.0", 384, 1)
    way.conv_norm(f"{name}.branch2.1", 448, (3, 1)).conv_norm(f"{name}.branch2.2", 512, (1, 3))
    way.branch().conv_norm(f"{name}.branch2.3a", 256, (1, 3))
    way.branch().conv_norm(f"{name}.branch2.3b", 256, (3, 1))
    at.branch().conv_norm(f"{name}.branch3", 256, 1)


def _stem(at: Image) -> Image:
    at.conv_norm("stem.0", 32, 3, stride=2, pad=0).conv_norm("stem.1", 32, 3, pad=0)
    at.conv_norm("stem.2", 64, 3)
    at = at.conv_norm("stem.3", 96, 3, stride=2, pad=0)  # beside a pool of 64 channels
    at.channels = 160
    at.branch().conv_norm("stem.4a.0", 64, 1).conv_norm("stem.4a.1", 96, 3, pad=0)
    way = at.branch().conv_norm("stem.4b.0", 64, 1).conv_norm("stem.4b.1", 64, (1, 7))
    way = way.conv_norm("stem.4b.2", 64, (7, 1)).conv_norm("stem.4b.3", 96, 3, pad=0)
    way.channels = 192
    way.conv_norm("stem.5", 192, 3, stride=2, pad=0)
    way.channels = 384
    return way


def inception_v4() -> Model:
    model = Model("inception_v4", "Inception-v4, 299x299 images")
    at = _stem(Image(model, 3, 299, 299))
    for number in range(4):
        _block(at, f"a{number}", _A)
    at.branch().conv_norm("reduction_a.branch0", 384, 3, stride=2, pad=0)
    way = at.branch().conv_norm("reduction_a.branch1.0", 192, 1)
    way.conv_norm("reduction_a.branch1.1", 224, 3)
    at = way.conv_norm("reduction_a.branch1.2", 256, 3, stride=2, pad=0)
    at.channels = 1024
    for number in range(7):
        _block(at, f"b{number}", _B)
    way = at.branch().conv_norm("reduction_b.branch0.0", 192, 1)
    way.conv_norm("reduction_b.branch0.1", 192, 3, stride=2, pad=0)
    way = at.branch().conv_norm("reduction_b.branch1.0", 256, 1)
    way.conv_norm("reduction_b.branch1.1", 256, (1, 7))
    way.conv_norm("reduction_b.branch1.2", 320, (7, 1))
    at = way.conv_norm("reduction_b.branch1.3", 320, 3, stride=2, pad=0)
    at.channels = 1536
    for number in range(3):
        _block_c(at, f"c{number}")
    model.linear("classifier", 1536, 1000)
    return model
