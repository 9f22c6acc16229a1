"""Trains a small network on scikit-learn's handwritten digits, on as many ranks as you like:

    horovodrun -np 2 python examples/pytorch_digits.py

Nothing here is special to HorovodX: this is a Horovod script.
"""

import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from tqdm import tqdm

import horovod.torch as hvd


def load(train_share=0.8):
    """1,797 images of 8 x 8 pixels; every rank makes the same split."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    cut = int(train_share * len(labels))
    train, test = order[:cut], order[cut:]
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = torch.nn.Linear(32 * 4 * 4, 64)
        self.fc2 = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def sampler_for(dataset, shuffle):
    return DistributedSampler(dataset, hvd.size(), hvd.rank(), shuffle=shuffle)


def accuracy(model, dataset):
    """Each rank tests its share; the result is the average over ranks."""
    loader = DataLoader(dataset, batch_size=64, sampler=sampler_for(dataset, shuffle=False))
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for images, labels in loader:
            correct += (model(images).argmax(1) == labels).sum().item()
            total += len(labels)
    return hvd.allreduce(torch.tensor(correct / total), name="accuracy").item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=32, help="images a rank and step")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate of one rank")
    options = parser.parse_args()

    hvd.init()
    torch.manual_seed(42)
    torch.set_num_threads(1)

    train, test = load()
    sampler = sampler_for(train, shuffle=True)
    loader = DataLoader(train, batch_size=options.batch_size, sampler=sampler)

    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr * hvd.size())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())

    progress = tqdm(total=options.epochs, unit="epoch", disable=hvd.rank() != 0, ncols=80)
    for epoch in range(options.epochs):
        model.train()
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        progress.set_postfix(loss=f"{hvd.allreduce(loss.detach(), name='loss').item():.4f}")
        progress.update()
    progress.close()

    result = accuracy(model, test)
    if hvd.rank() == 0:
        print(f"test accuracy on {hvd.size()} ranks: {100 * result:.2f} %", flush=True)


if __name__ == "__main__":
    main()
