"""Rank 1 goes without a word while the others wait for it; they say who it was."""

import os
import signal
import sys

import torch

import horovod.torch as hvd

hvd.init()
hvd.allreduce(torch.ones(10), name="all are here")
if hvd.rank() == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    hvd.allreduce(torch.ones(int(sys.argv[1])), name="one is missing")
except hvd.HorovodInternalError as error:
    print(f"rank {hvd.rank()} heard: {error}", flush=True)
    sys.exit(5)
