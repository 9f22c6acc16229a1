"""Convolutional networks, derived from their published layer tables; 1000 classes."""

from __future__ import annotations

from horovodx.sim.model import Image, Model


def resnet50() -> Model:
    """He et al. 2015; the stride is in the 3x3 convolutions."""
    model = Model("resnet50", "ResNet-50, 224x224 images")
    at = Image(model, 3, 224, 224).conv("conv1", 64, 7, stride=2).norm("bn1")
    at.shrink(3, 2, 1)
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 1):
        for block in range(blocks):
            name = f"layer{stage}.{block}"
            stride = 2 if block == 0 and stage > 1 else 1
            way = at.branch()
            way.conv(f"{name}.conv1", width, 1).norm(f"{name}.bn1")
            way.conv(f"{name}.conv2", width, 3, stride=stride).norm(f"{name}.bn2")
            way.conv(f"{name}.conv3", 4 * width, 1).norm(f"{name}.bn3")
            if block == 0:
                shortcut = f"{name}.downsample"
                at.branch().conv(f"{shortcut}.0", 4 * width, 1, stride).norm(f"{shortcut}.1")
            at = way
    model.linear("fc", 2048, 1000)
    return model


def vgg16() -> Model:
    """Simonyan and Zisserman 2014, configuration D."""
    model = Model("vgg16", "VGG-16, 224x224 images")
    at = Image(model, 3, 224, 224)
    for stage, widths in enumerate([[64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3], 1):
        for number, width in enumerate(widths, 1):
            at.conv(f"conv{stage}_{number}", width, 3, bias=True)
        at.shrink(2, 2)
    model.linear("fc6", 512 * 7 * 7, 4096)
    model.linear("fc7", 4096, 4096)
    model.linear("fc8", 4096, 1000)
    return model


def densenet201() -> Model:
    """Huang et al. 2016: growth 32, bottlenecks of 128, halved between blocks."""
    model = Model("densenet201", "DenseNet-201, 224x224 images")
    at = Image(model, 3, 224, 224).conv("conv0", 64, 7, stride=2).norm("norm0")
    at.shrink(3, 2, 1)
    for block, layers in enumerate([6, 12, 48, 32], 1):
        for number in range(1, layers + 1):
            name = f"denseblock{block}.denselayer{number}"
            way = at.branch().norm(f"{name}.norm1").conv(f"{name}.conv1", 128, 1)
            way.norm(f"{name}.norm2").conv(f"{name}.conv2", 32, 3)
            at.channels += 32
        if block < 4:
            name = f"transition{block}"
            at.norm(f"{name}.norm").conv(f"{name}.conv", at.channels // 2, 1)
            at.shrink(2, 2)
    at.norm("norm5")
    model.linear("classifier", at.channels, 1000)
    return model


# 1x1, 3x3 (reduce, out), 5x5 (reduce, out), behind the pool: Szegedy et al. 2014, table 1.
_INCEPTIONS = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


def googlenet() -> Model:
    """As torchvision counts it: batch norms, no biases, 3x3 instead of 5x5, no side classifiers."""
    model = Model("googlenet", "GoogLeNet with batch norm, no side classifiers, 224x224 images")
    at = Image(model, 3, 224, 224).conv_norm("conv1", 64, 7, stride=2)
    at.shrink(3, 2, ceil=True)
    at.conv_norm("conv2", 64, 1).conv_norm("conv3", 192, 3)
    at.shrink(3, 2, ceil=True)
    for name, (one, three_in, three, five_in, five, pool) in _INCEPTIONS.items():
        name = f"inception{name}"
        at.branch().conv_norm(f"{name}.branch1", one, 1)
        at.branch().conv_norm(f"{name}.branch2.0", three_in, 1).conv_norm(
            f"{name}.branch2.1", three, 3
        )
        at.branch().conv_norm(f"{name}.branch3.0", five_in, 1).conv_norm(
            f"{name}.branch3.1", five, 3
        )
        at.branch().conv_norm(f"{name}.branch4", pool, 1)
        at.channels = one + three + five + pool
        if name in ("inception3b", "inception4e"):
            at.shrink(3, 2, ceil=True)
    model.linear("fc", 1024, 1000)
    return model


def googlenet_v1() -> Model:
    """As published and trained in 2014: biases, no norms, two side classifiers."""
    model = Model("googlenet_v1", "GoogLeNet of 2014 with its two side classifiers, 224x224 images")
    at = Image(model, 3, 224, 224).conv("conv1", 64, 7, stride=2, bias=True)
    at.shrink(3, 2, ceil=True)
    at.conv("conv2.reduce", 64, 1, bias=True).conv("conv2", 192, 3, bias=True)
    at.shrink(3, 2, ceil=True)
    for name, (one, three_in, three, five_in, five, pool) in _INCEPTIONS.items():
        part = f"inception{name}"
        at.branch().conv(f"{part}.1x1", one, 1, bias=True)
        way = at.branch().conv(f"{part}.3x3_reduce", three_in, 1, bias=True)
        way.conv(f"{part}.3x3", three, 3, bias=True)
        way = at.branch().conv(f"{part}.5x5_reduce", five_in, 1, bias=True)
        way.conv(f"{part}.5x5", five, 5, bias=True)
        at.branch().conv(f"{part}.pool", pool, 1, bias=True)
        at.channels = one + three + five + pool
        if name in ("4a", "4d"):
            side = at.branch()
            side.shrink(5, 3)
            side.conv(f"side{name}.conv", 128, 1, bias=True)
            model.linear(f"side{name}.fc", 128 * side.height * side.width, 1024)
            model.linear(f"side{name}.classifier", 1024, 1000)
        if name in ("3b", "4e"):
            at.shrink(3, 2, ceil=True)
    model.linear("classifier", 1024, 1000)
    return model
