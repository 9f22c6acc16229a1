"""Fails on rank 1 while the others wait for it."""

import torch

import horovod.torch as hvd


def test_before() -> None:
    hvd.barrier()


def test_fails() -> None:
    assert hvd.rank() != 1, "rank 1 fails on purpose"
    hvd.allreduce(torch.ones(1), name="without rank 1")
