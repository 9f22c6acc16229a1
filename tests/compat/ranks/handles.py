"""Handles and names: what is under way, in which order, under which name, and for how long."""

import gc
import threading
import time
from typing import Any

import pytest
import torch

import horovod.torch as hvd
from horovod.torch import mpi_ops

SECONDS = 60.0


def total(size: int) -> float:
    return size * (size + 1) / 2


def poll_until_done(handle: int) -> None:
    deadline = time.monotonic() + SECONDS
    while not hvd.poll(handle):
        assert time.monotonic() < deadline


def test_handles_count_from_one(restart: Any, rank: int) -> None:
    hvd.barrier()
    hvd.shutdown()
    hvd.init()
    handles = [
        hvd.allreduce_async(torch.ones(1)),
        hvd.allgather_async(torch.ones(1)),
        hvd.broadcast_async(torch.ones(1), 0),
        hvd.grouped_allreduce_async([torch.ones(1), torch.ones(2)]),
    ]
    assert handles == [1, 2, 3, 4]
    for handle in handles:
        hvd.synchronize(handle)
    hvd.barrier()
    handle = hvd.allreduce_async_(torch.ones(1))
    assert handle == 6, "a barrier takes a number too"
    hvd.synchronize(handle)


def test_poll(rank: int, size: int) -> None:
    handle = hvd.allreduce_async(torch.full((4,), rank + 1.0), op=hvd.Sum)
    assert isinstance(handle, int) and handle > 0
    poll_until_done(handle)
    assert hvd.poll(handle) is True, "asking does not end a handle"
    assert hvd.synchronize(handle).tolist() == [total(size)] * 4
    with pytest.raises(ValueError, match="was not created or has been cleared"):
        hvd.poll(handle)


def test_poll_is_false_while_a_rank_is_missing(rank: int, size: int) -> None:
    if rank == 0:
        handle = hvd.allreduce_async(torch.ones(1), name="late", op=hvd.Sum)
        if size > 1:
            assert hvd.poll(handle) is False
    hvd.barrier()
    if rank != 0:
        handle = hvd.allreduce_async(torch.ones(1), name="late", op=hvd.Sum)
    assert hvd.synchronize(handle).item() == size


def test_a_handle_that_is_not_in_use_gives_none(rank: int) -> None:
    handle = hvd.allreduce_async(torch.ones(1))
    assert hvd.synchronize(handle) is not None
    assert hvd.synchronize(handle) is None
    assert hvd.synchronize(10**9) is None
    for unknown in (10**9, -1, 0):
        with pytest.raises(ValueError, match="was not created or has been cleared"):
            hvd.poll(unknown)


def test_ranks_may_submit_in_any_order(rank: int, size: int) -> None:
    count = 60
    order = torch.randperm(count, generator=torch.Generator().manual_seed(rank)).tolist()
    handles = {}
    for i in order:
        tensor = torch.full((i,), float(i * (rank + 1)))
        handles[i] = hvd.allreduce_async(tensor, name=f"any order {i}", op=hvd.Sum)
    for i in reversed(order):
        assert hvd.synchronize(handles[i]).tolist() == [i * total(size)] * i


def test_a_name_may_be_used_again(rank: int, size: int) -> None:
    for i in range(100):
        result = hvd.allreduce(torch.full((3,), i + rank + 1.0), name="again", op=hvd.Sum)
        assert result.tolist() == [size * i + total(size)] * 3


def test_a_name_may_be_used_again_with_another_shape_and_type(rank: int, size: int) -> None:
    for i in range(1, 20):
        dtype = [torch.float32, torch.int64, torch.float16][i % 3]
        op = [hvd.Sum, hvd.Max][i % 2]
        tensor = torch.full((i, 2), rank + 1, dtype=dtype)
        result = hvd.allreduce(tensor, name="changing", op=op)
        right = total(size) if op == hvd.Sum else size
        assert result.dtype == dtype and result.tolist() == [[right] * 2] * i


def test_kinds_have_names_of_their_own(rank: int, size: int) -> None:
    tensor = torch.full((size,), rank + 1.0)
    reduced = hvd.allreduce_async(tensor, name="one", op=hvd.Sum)
    gathered = hvd.allgather_async(tensor, name="one")
    given = hvd.broadcast_async(tensor, 0, name="one")
    turned = hvd.alltoall_async(tensor, name="one")
    scattered = hvd.reducescatter_async(tensor, name="one", op=hvd.Sum)
    assert hvd.synchronize(scattered).tolist() == [total(size)]
    assert hvd.synchronize(turned)[0].tolist() == [r + 1.0 for r in range(size)]
    assert hvd.synchronize(given).tolist() == [1.0] * size
    assert len(hvd.synchronize(gathered)) == size * size
    assert hvd.synchronize(reduced).tolist() == [total(size)] * size


def twice(name: str, size: int) -> list[Any]:
    ones = torch.ones(size)
    return [
        lambda: hvd.allreduce_async(ones, name=name),
        lambda: hvd.allreduce_async_(torch.ones(size), name=name),
        lambda: hvd.allgather_async(ones, name=name),
        lambda: hvd.broadcast_async(ones, 0, name=name),
        lambda: hvd.alltoall_async(ones, name=name),
        lambda: hvd.reducescatter_async(ones, name=name),
        lambda: hvd.grouped_allreduce_async([ones, ones], name=name),
        lambda: hvd.grouped_allgather_async([ones, ones], name=name),
        lambda: hvd.grouped_reducescatter_async([ones, ones], name=name),
    ]


@pytest.mark.parametrize("kind", range(9))
def test_a_name_that_is_under_way_is_refused(kind: int, rank: int, size: int, restart: Any) -> None:
    if size == 1:
        pytest.skip("nobody to wait for: it may have ended")
    submit = twice(f"twice {kind}", size)[kind]
    if rank == 0:  # the others have not submitted it yet, so it can't have ended
        handle = submit()
        with pytest.raises(ValueError, match="same name as another tensor that is currently being"):
            submit()
    hvd.barrier()
    if rank != 0:
        handle = submit()
    assert hvd.synchronize(handle) is not None


def test_one_name_twice_in_a_group_is_two_tensors(rank: int, size: int) -> None:
    tensor = torch.ones(3)
    first, second = hvd.grouped_allreduce([tensor, tensor], op=hvd.Sum, name="the same tensor")
    assert first.tolist() == second.tolist() == [size] * 3


def test_inputs_are_kept_until_the_end(rank: int, size: int) -> None:
    handles = []
    for i in range(50):
        handles.append(hvd.allreduce_async(torch.full((1000,), float(i)), op=hvd.Sum))
        gc.collect(0)
        torch.full((1000,), -1.0)  # would take the place of a tensor that was let go
    for i, handle in enumerate(handles):
        assert hvd.synchronize(handle).eq(i * size).all()


def test_a_thousand_under_way(rank: int, size: int) -> None:
    handles = [hvd.allreduce_async(torch.full((i % 7,), float(i)), op=hvd.Sum) for i in range(1000)]
    for i, handle in enumerate(handles):
        assert hvd.synchronize(handle).tolist() == [float(i * size)] * (i % 7)


def test_threads(rank: int, size: int) -> None:
    """Threads of one process, each with names of its own, in no common order."""
    wrong: list[str] = []

    def work(number: int) -> None:
        for i in range(30):
            result = hvd.allreduce(
                torch.full((5,), float(number * 100 + i)), name=f"thread {number} {i}", op=hvd.Sum
            )
            if result.tolist() != [float((number * 100 + i) * size)] * 5:
                wrong.append(f"thread {number} {i}: {result}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()
    assert not wrong


def test_another_thread_may_wait(rank: int, size: int) -> None:
    handle = hvd.allreduce_async(torch.ones(3), op=hvd.Sum)
    results: list[torch.Tensor] = []
    thread = threading.Thread(target=lambda: results.append(hvd.synchronize(handle)))
    thread.start()
    thread.join(SECONDS)
    assert results[0].tolist() == [float(size)] * 3


def test_waiting_lets_other_threads_run(rank: int, size: int) -> None:
    """A rank that waits holds no lock of Python's: its other thread makes the wait end."""
    if rank == 0:
        thread = threading.Thread(
            target=lambda: hvd.allreduce(torch.ones(1), name="from the side", op=hvd.Sum)
        )
        thread.start()
        hvd.allreduce(torch.ones(1), name="in front", op=hvd.Sum)
        thread.join(SECONDS)
        assert not thread.is_alive()
    else:
        hvd.allreduce(torch.ones(1), name="from the side", op=hvd.Sum)
        hvd.allreduce(torch.ones(1), name="in front", op=hvd.Sum)
    assert hvd.allgather(torch.ones(1), name="after threads").tolist() == [1.0] * size


def test_native_functions(rank: int, size: int) -> None:
    lib = mpi_ops.mpi_lib
    tensor = torch.full((size,), rank + 1.0)

    def done(handle: int) -> None:
        poll_until_done(handle)
        assert lib.horovod_torch_poll(handle)
        lib.horovod_torch_wait_and_clear(handle)

    out = torch.empty(size)
    allreduce = lib.horovod_torch_allreduce_async_torch_FloatTensor
    done(allreduce(tensor, out, 1, b"raw", hvd.Sum, 2.0, 1.0, 0))
    assert out.tolist() == [2 * total(size)] * size
    done(allreduce(tensor, out, size, "", hvd.Sum, 1.0, 1.0, 0))
    assert out.tolist() == [total(size) / size] * size
    a, b = torch.empty(size), torch.empty(size)
    grouped = lib.horovod_torch_grouped_allreduce_async_torch_FloatTensor
    done(grouped([tensor, tensor], [a, b], 1, "raw", hvd.Max, 1.0, 1.0, 0))
    assert a.tolist() == b.tolist() == [float(size)] * size
    out = torch.empty(0, dtype=torch.int64)
    rows = torch.full((2, 3), rank, dtype=torch.int64)
    done(lib.horovod_torch_allgather_async_torch_LongTensor(rows, out, "raw", 0))
    assert out.shape == (2 * size, 3) and out[:, 0].tolist() == [
        r for r in range(size) for _ in "ab"
    ]
    a, b = torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64)
    grouped = lib.horovod_torch_grouped_allgather_async_torch_LongTensor
    done(grouped([rows, rows], [a, b], "raw", 0))
    assert a.shape == b.shape == (2 * size, 3)
    out = torch.empty(size)
    done(lib.horovod_torch_broadcast_async_torch_FloatTensor(tensor, out, size - 1, "raw", 0))
    assert out.tolist() == [float(size)] * size
    received = torch.empty(0, dtype=torch.int32)
    splits = torch.ones(size, dtype=torch.int32)
    alltoall = lib.horovod_torch_alltoall_async_torch_FloatTensor
    done(alltoall(tensor, splits, out, received, "raw", 0))
    assert out.tolist() == [r + 1.0 for r in range(size)] and received.tolist() == [1] * size
    out = torch.empty(1)
    scatter = lib.horovod_torch_reducescatter_async_torch_FloatTensor
    done(scatter(tensor, out, "raw", hvd.Sum, 0, 1.0, 1.0))
    assert out.tolist() == [total(size)]
    done(lib.horovod_torch_barrier(0))
    last = torch.zeros(1, dtype=torch.int32)
    done(lib.horovod_torch_join(last, -1))
    assert 0 <= last.item() < size
    assert lib.horovod_torch_allreduce_async_torch_cuda_HalfTensor is not None
