"""The models that the simulator knows by name."""

from __future__ import annotations

from horovodx.sim.image_models import densenet201, googlenet, googlenet_v1, resnet50, vgg16
from horovodx.sim.inception_v4 import inception_v4
from horovodx.sim.model import Maker, Model


def _bert(name: str, about: str, layers: int, width: int, length: int = 128) -> Model:
    """Devlin et al. 2018, without a head; so many tokens a sequence."""
    model = Model(name, f"{about}, sequences of {length}")
    tables = {"word": 30522 * width, "position": 512 * width, "segment": 2 * width}
    model.layer("embeddings", tables, 0)
    model.norm("embeddings.norm", width, length * width)
    for number in range(layers):
        layer = f"encoder.{number}"
        for part in ("query", "key", "value"):
            model.linear(f"{layer}.attention.{part}", width, width, length)
        scores = 2.0 * length * length * width  # query by key, then by value
        model.linear(f"{layer}.attention.out", width, width, length, more=scores)
        model.norm(f"{layer}.attention.norm", width, length * width)
        model.linear(f"{layer}.up", width, 4 * width, length)
        model.linear(f"{layer}.down", 4 * width, width, length)
        model.norm(f"{layer}.norm", width, length * width)
    model.linear("pooler", width, width)
    return model


def bert_base() -> Model:
    return _bert("bert_base", "BERT-base", 12, 768)


def bert_large() -> Model:
    return _bert("bert_large", "BERT-large", 24, 1024)


MODELS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (
        resnet50,
        vgg16,
        googlenet,
        googlenet_v1,
        inception_v4,
        densenet201,
        bert_base,
        bert_large,
    )
}
