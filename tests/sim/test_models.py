"""The built-in models have the sizes that their publications and libraries count."""

import pytest

from horovodx.sim.models import MODELS

# Parameters, gradients.
KNOWN = {
    "resnet50": (25_557_032, 161),
    "vgg16": (138_357_544, 32),
    "googlenet": (6_624_904, 173),
    "googlenet_v1": (13_378_280, 128),
    "inception_v4": (42_679_816, 449),
    "densenet201": (20_013_928, 604),
    "bert_base": (109_482_240, 199),
    "bert_large": (335_141_888, 391),
}
# Multiply-adds of a forward pass without norms, in billions, as commonly stated.
WORK = {
    "resnet50": 4.09,
    "vgg16": 15.47,
    "googlenet": 1.50,
    "googlenet_v1": 1.58,
    "inception_v4": 12.3,
    "densenet201": 4.29,
}


def test_all_are_checked():
    assert MODELS.keys() == KNOWN.keys()


@pytest.mark.parametrize("name", KNOWN)
def test_sizes(name):
    model = MODELS[name]()
    assert (model.elements, len(model.gradients)) == KNOWN[name]
    names = [gradient.name for gradient in model.gradients]
    assert len(set(names)) == len(names)
    assert all(gradient.elements > 0 and gradient.work >= 0 for gradient in model.gradients)


@pytest.mark.parametrize("name", WORK)
def test_work(name):
    norms = ("bn", "norm", "downsample.1")
    gradients = MODELS[name]().gradients
    work = sum(g.work for g in gradients if not any(word in g.name for word in norms))
    assert work / 1e9 == pytest.approx(WORK[name], rel=0.02)
