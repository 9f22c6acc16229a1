"""Trains a small network on scikit-learn's handwritten digits with Keras on PyTorch:

    horovodrun -np 2 python examples/keras_torch_digits.py

Nothing here is special to HorovodX but the backend, which Horovod does not know.
"""

import argparse
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

import horovod.keras as hvd


def load(batch_size, train_share=0.8):
    """1,797 images of 8 x 8 pixels; every rank makes the same split and has its share of both."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[..., None] / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    cut = int(train_share * len(labels))
    loaders = []
    for part, shuffle in ((order[:cut], True), (order[cut:], False)):
        dataset = TensorDataset(images[part], labels[part])
        sampler = DistributedSampler(dataset, hvd.size(), hvd.rank(), shuffle=shuffle)
        loaders.append(DataLoader(dataset, batch_size, sampler=sampler))
    return loaders


def network():
    return keras.Sequential(
        [
            keras.layers.Input((8, 8, 1)),
            keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(10),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=32, help="images a rank and step")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate of one rank")
    options = parser.parse_args()

    hvd.init()
    keras.utils.set_random_seed(42)
    torch.set_num_threads(1)

    train, test = load(options.batch_size)
    model = network()
    model.compile(
        optimizer=hvd.DistributedOptimizer(keras.optimizers.Adam(options.lr * hvd.size())),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    next_order = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: train.sampler.set_epoch(epoch)
    )
    model.fit(
        train,
        epochs=options.epochs,
        callbacks=[
            next_order,
            hvd.callbacks.BroadcastGlobalVariablesCallback(root_rank=0),
            hvd.callbacks.MetricAverageCallback(),
        ],
        verbose=2 if hvd.rank() == 0 else 0,
    )

    _, accuracy = model.evaluate(test, verbose=0)
    result = hvd.allreduce(accuracy, name="accuracy")
    if hvd.rank() == 0:
        print(f"test accuracy on {hvd.size()} ranks: {100 * float(result):.2f} %", flush=True)


if __name__ == "__main__":
    main()
