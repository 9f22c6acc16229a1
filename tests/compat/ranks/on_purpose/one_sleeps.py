"""Rank 1 never comes."""

import threading

import torch

import horovod.torch as hvd


def test_sleeps() -> None:
    hvd.barrier()
    if hvd.rank() == 1:
        threading.Event().wait()
    hvd.allreduce(torch.ones(1), name="without rank 1")
