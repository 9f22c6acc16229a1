"""Ctrl-C while a rank waits for others: KeyboardInterrupt at once, and nothing breaks."""

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
import torch

import horovod.torch as hvd

SECONDS = 60.0


@pytest.fixture(autouse=True)
def several(size: int) -> Iterator[None]:
    if size == 1:
        pytest.skip("nobody to wait for")
    yield
    hvd.barrier()
    hvd.shutdown()  # numbers of handles are equal again
    hvd.init()


def interrupt_when_waiting() -> threading.Thread:
    """A thread that sends SIGINT to this process once its main thread waits for the engine."""
    main = threading.main_thread().ident

    def watch() -> None:
        deadline = time.monotonic() + SECONDS
        seen = None
        while time.monotonic() < deadline:
            frame = sys._current_frames().get(main)  # type: ignore[arg-type]
            here = None
            if frame is not None and "horovod" in frame.f_code.co_filename:
                here = (frame.f_code, frame.f_lasti)
            # Twice at one place: it is inside the engine, not on its way there.
            if here is not None and here == seen:
                os.kill(os.getpid(), signal.SIGINT)
                return
            seen = here
            time.sleep(0.02)  # between two looks

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


FORMS: dict[str, Callable[[], Any]] = {
    "allreduce": lambda: hvd.allreduce(torch.ones(3), name="i1", op=hvd.Sum),
    "allreduce_": lambda: hvd.allreduce_(torch.ones(3), name="i2", op=hvd.Sum),
    "grouped_allreduce": lambda: hvd.grouped_allreduce([torch.ones(3)] * 2, name="i3", op=hvd.Sum),
    "allgather": lambda: hvd.allgather(torch.ones(3), name="i4"),
    "broadcast": lambda: hvd.broadcast(torch.ones(3), 1, name="i5"),
    "alltoall": lambda: hvd.alltoall(torch.ones(2 * hvd.size()), name="i6"),
    "reducescatter": lambda: hvd.reducescatter(torch.ones(3), name="i7"),
    "synchronize": lambda: hvd.synchronize(hvd.allreduce_async(torch.ones(3), name="i8")),
    "barrier": hvd.barrier,
    "join": hvd.join,
}


class Sign:
    """Rank 0 puts it up; the others wait for it, without a collective."""

    def __init__(self) -> None:
        place = tempfile.mkdtemp() if hvd.rank() == 0 else None
        self._file = Path(hvd.broadcast_object(place, 0, name="sign")) / "up"

    def put_up(self) -> None:
        self._file.touch()

    def wait(self) -> None:
        deadline = time.monotonic() + SECONDS
        while not self._file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)  # between two looks


@pytest.mark.parametrize("name", FORMS)
def test_waiting_is_interrupted(name: str, rank: int, size: int) -> None:
    interrupted = Sign()
    if rank == 0:
        thread = interrupt_when_waiting()
        with pytest.raises(KeyboardInterrupt):
            FORMS[name]()
        thread.join(SECONDS)
        # What it asked for is still under way and ends when the others come.
        interrupted.put_up()
    else:
        interrupted.wait()
        FORMS[name]()
    result = hvd.allreduce(torch.ones(3), name="afterwards", op=hvd.Sum)
    assert result.tolist() == [size] * 3


def test_a_step_is_interrupted(rank: int, size: int) -> None:
    model = torch.nn.Linear(3, 1)
    for p in model.parameters():
        torch.nn.init.zeros_(p)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0), model.named_parameters()
    )
    interrupted = Sign()
    if rank == 0:
        model(torch.ones(1, 3)).sum().backward()
        thread = interrupt_when_waiting()
        with pytest.raises(KeyboardInterrupt):
            optimizer.step()
        thread.join(SECONDS)
        assert model.bias.item() == 0.0, "nothing has moved"
        interrupted.put_up()
    else:
        interrupted.wait()
        model(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        assert model.bias.item() == -1.0
    hvd.broadcast_parameters(model.state_dict(), root_rank=1)
    optimizer.zero_grad()
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    assert model.bias.item() == -2.0
