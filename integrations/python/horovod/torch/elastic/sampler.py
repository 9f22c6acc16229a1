"""ElasticSampler: goes on with what nobody has seen yet when the number of ranks changes."""

import itertools
import math
import random
from typing import Any, Dict, Iterator, List, Set, Sized

import torch.utils.data

from horovod.torch._basics import rank, size


class ElasticSampler(torch.utils.data.Sampler[int]):
    """Parts of a dataset for each rank, of what is left in this epoch.

    dataset: of which indices are sampled.
    shuffle, seed: in an order that depends on the seed and the epoch, the same on all ranks.

    Call record_batch() after each batch and set_epoch() at the end of an epoch; put it into the
    state, so that a reset divides what is left among the ranks there are then.
    """

    def __init__(self, dataset: Sized, shuffle: bool = True, seed: int = 0) -> None:
        self.dataset = dataset
        self.shuffle = shuffle
        self.seed = seed
        self.epoch = 0
        self.processed_num = 0
        self.processed_indices: Set[int] = set()  # for those who look for it
        self.num_replicas = 0
        self.rank = 0
        self.remaining_indices: List[int] = []
        self.num_samples = 0
        self.total_size = 0
        self.reset()

    def set_epoch(self, epoch: int) -> None:
        """A new epoch in which nothing has been seen. Call it at the end of the one before."""
        self.epoch = epoch
        self.processed_num = 0
        self.reset()

    def record_batch(self, batch_idx: int, batch_size: int) -> None:
        """All ranks have done so many samples each."""
        self.processed_num += batch_size * self.num_replicas

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Takes epoch and progress, and divides the rest anew."""
        self.epoch = state_dict["epoch"]
        self.processed_num = state_dict["processed_num"]
        self.reset()

    def state_dict(self) -> Dict[str, Any]:
        """Epoch and progress."""
        return {"epoch": self.epoch, "processed_num": self.processed_num}

    def reset(self) -> None:
        """Divides what is left of the epoch among the ranks there are now."""
        self.num_replicas = size()
        self.rank = rank()
        order = list(range(len(self.dataset)))
        if self.shuffle:
            random.Random(self.seed + self.epoch).shuffle(order)
        self.remaining_indices = order[self.processed_num :]
        self.num_samples = math.ceil(len(self.remaining_indices) / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        # Some come twice, so that all ranks have equally many.
        padded = itertools.islice(itertools.cycle(self.remaining_indices), self.total_size)
        return iter(list(padded)[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples
