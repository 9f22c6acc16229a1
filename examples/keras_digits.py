"""Trains a small network on scikit-learn's handwritten digits with Keras, on several ranks:

    horovodrun -np 2 python examples/keras_digits.py

Nothing here is special to HorovodX: this is a Horovod script.
"""

import argparse

import keras
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import horovod.keras as hvd


def load():
    """1,797 images of 8 x 8 pixels; every rank makes the same split."""
    digits = load_digits()
    images = (digits.images[..., None] / 16).astype("float32")
    return train_test_split(images, digits.target, test_size=0.2, random_state=0)


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

    # Every rank trains and tests on its share. All have the same number of steps: a rank that had
    # one more would wait for the others in it.
    mine = slice(hvd.rank(), None, hvd.size())
    train_images, test_images, train_labels, test_labels = load()
    used = len(train_labels) // (options.batch_size * hvd.size()) * options.batch_size

    rate = options.lr * hvd.size()
    model = network()
    model.compile(
        optimizer=hvd.DistributedOptimizer(keras.optimizers.Adam(rate)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        train_images[mine][:used],
        train_labels[mine][:used],
        batch_size=options.batch_size,
        epochs=options.epochs,
        callbacks=[
            hvd.callbacks.BroadcastGlobalVariablesCallback(root_rank=0),
            hvd.callbacks.MetricAverageCallback(),
            hvd.callbacks.LearningRateWarmupCallback(initial_lr=rate, warmup_epochs=3),
        ],
        verbose=2 if hvd.rank() == 0 else 0,
    )

    _, accuracy = model.evaluate(test_images[mine], test_labels[mine], verbose=0)
    result = hvd.allreduce(accuracy, name="accuracy")
    if hvd.rank() == 0:
        print(f"test accuracy on {hvd.size()} ranks: {100 * float(result):.2f} %", flush=True)


if __name__ == "__main__":
    main()
