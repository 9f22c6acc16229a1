"""Rank 1 ends without a word while the others wait for it."""

import os

import torch

import horovod.torch as hvd


def test_dies() -> None:
    hvd.barrier()
    if hvd.rank() == 1:
        os._exit(7)
    hvd.allreduce(torch.ones(1), name="without rank 1")
