"""Trains a small network on scikit-learn's handwritten digits with TensorFlow, on several ranks:

    horovodrun -np 2 python examples/tensorflow2_digits.py

Nothing here is special to HorovodX: this is a Horovod script.
"""

import argparse

import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import horovod.tensorflow as hvd


def load():
    """1,797 images of 8 x 8 pixels; every rank makes the same split."""
    digits = load_digits()
    images = (digits.images[..., None] / 16).astype("float32")
    return train_test_split(images, digits.target, test_size=0.2, random_state=0)


def network():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((8, 8, 1)),
            tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=32, help="images a rank and step")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate of one rank")
    options = parser.parse_args()

    hvd.init()
    tf.random.set_seed(42)

    train_images, test_images, train_labels, test_labels = load()
    dataset = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
    # Shuffled alike on all ranks, so that each epoch's shares are disjoint.
    dataset = dataset.shuffle(len(train_labels), seed=42).shard(hvd.size(), hvd.rank())
    dataset = dataset.batch(options.batch_size, drop_remainder=True)

    model = network()
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(options.lr * hvd.size())
    optimizer.build(model.trainable_variables)
    hvd.broadcast_variables(model.variables, root_rank=0)
    hvd.broadcast_variables(optimizer.variables, root_rank=0)

    @tf.function
    def step(images, labels):
        with hvd.DistributedGradientTape(tf.GradientTape()) as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for epoch in range(options.epochs):
        for images, labels in dataset:
            loss = step(images, labels)
        mean = hvd.allreduce(loss, name="loss")
        if hvd.rank() == 0:
            print(f"epoch {epoch + 1:2}: loss {float(mean):.4f}", flush=True)

    # Each rank tests its share; the result is the average over ranks.
    mine = slice(hvd.rank(), None, hvd.size())
    guesses = tf.argmax(model(test_images[mine]), axis=1)
    correct = tf.reduce_mean(tf.cast(guesses == test_labels[mine], tf.float32))
    result = hvd.allreduce(correct, name="accuracy")
    if hvd.rank() == 0:
        print(f"test accuracy on {hvd.size()} ranks: {100 * float(result):.2f} %", flush=True)


if __name__ == "__main__":
    main()
