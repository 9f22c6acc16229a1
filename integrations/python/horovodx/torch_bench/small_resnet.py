"""A small ResNet and something to train it on."""

from typing import Any, Tuple


def small_resnet(width: int = 16) -> Any:
    """Ten convolutions for images of 3 x 32 x 32."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outside)
            self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outside)
            self.shortcut = nn.Conv2d(inside, outside, 1, stride, bias=False)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.bn1(self.conv1(x)))
            return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))

    return nn.Sequential(
        nn.Conv2d(3, width, 3, 1, 1),
        Block(width, width, 1),
        Block(width, 2 * width, 2),
        Block(2 * width, 4 * width, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, 10),
    )


def batch(size: int) -> Tuple[Any, Any]:
    """Images and labels, made up: speed is what counts here."""
    import torch

    return torch.randn(size, 3, 32, 32), torch.randint(0, 10, (size,))
