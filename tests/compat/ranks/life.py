"""Beginning and end: before init(), after shutdown(), again and again, and the timeline."""

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
import torch

import horovod.torch as hvd
from horovod.torch import mpi_ops

NOT_YET = "Horovod has not been initialized; use hvd.init()."


@pytest.fixture(autouse=True)
def from_the_start() -> Iterator[None]:
    """Without an engine at the beginning; ranks meet before and after."""
    hvd.init()
    hvd.barrier()
    hvd.shutdown()
    yield
    os.environ.pop("HOROVOD_TIMELINE", None)
    hvd.init()


CALLS: dict[str, Callable[[], Any]] = {
    "allreduce": lambda: hvd.allreduce(torch.ones(2)),
    "allreduce_": lambda: hvd.allreduce_(torch.ones(2)),
    "allreduce_async": lambda: hvd.allreduce_async(torch.ones(2)),
    "grouped_allreduce": lambda: hvd.grouped_allreduce([torch.ones(2)]),
    "allgather": lambda: hvd.allgather(torch.ones(2)),
    "grouped_allgather": lambda: hvd.grouped_allgather([torch.ones(2)]),
    "broadcast": lambda: hvd.broadcast(torch.ones(2), 0),
    "broadcast_": lambda: hvd.broadcast_(torch.ones(2), 0),
    "alltoall": lambda: hvd.alltoall(torch.ones(12)),
    "reducescatter": lambda: hvd.reducescatter(torch.ones(2)),
    "grouped_reducescatter": lambda: hvd.grouped_reducescatter([torch.ones(2)]),
    "join": hvd.join,
    "barrier": hvd.barrier,
}
NUMBERS = [hvd.size, hvd.local_size, hvd.cross_size, hvd.rank, hvd.local_rank, hvd.cross_rank]


def test_collectives_before_init() -> None:
    assert hvd.is_initialized() is False
    for name, call in CALLS.items():
        with pytest.raises(hvd.HorovodInternalError, match=NOT_YET):
            pytest.fail(f"{name} gave {call()}")


def test_numbers_before_init() -> None:
    for number in NUMBERS:
        with pytest.raises(ValueError, match=NOT_YET):
            number()
    with pytest.raises(ValueError, match=NOT_YET):
        hvd.start_timeline("/dev/null")
    with pytest.raises(ValueError, match=NOT_YET):
        hvd.stop_timeline()
    with pytest.raises(ValueError, match="has not been initialized|not enabled"):
        hvd.mpi_threads_supported()
    with pytest.raises(ValueError, match=NOT_YET):
        hvd.add_process_set([0])


def test_what_is_built_can_be_asked_at_any_time() -> None:
    for built in (hvd.mpi_built, hvd.gloo_built, hvd.ddl_built, hvd.ccl_built, hvd.cuda_built):
        assert built() in (True, False) and type(built()) is bool
    assert type(hvd.rocm_built()) is bool
    assert type(hvd.nccl_built()) is int
    assert hvd.gloo_built()


def test_numbers(rank: int, size: int) -> None:
    assert 0 <= rank < size
    hosts = int(os.environ.get("HVDX_HOSTS", "1"))  # with ranks in a row, as even as can be
    each = -(-size // hosts)
    assert hvd.local_rank() == rank % each and hvd.cross_rank() == rank // each
    assert hvd.local_size() == min(each, size - rank // each * each)
    assert hvd.cross_size() == len(range(rank % each, size, each))
    assert mpi_ops.is_homogeneous() is (size % each == 0)
    if "OMPI_COMM_WORLD_RANK" in os.environ:  # mpirun has started it
        assert hvd.mpi_enabled() is True and type(hvd.mpi_threads_supported()) is bool
        return
    assert hvd.gloo_enabled() is True and hvd.mpi_enabled() is False
    with pytest.raises(ValueError):
        hvd.mpi_threads_supported()


@pytest.fixture
def rank() -> int:
    hvd.init()
    return hvd.rank()


@pytest.fixture
def size() -> int:
    hvd.init()
    return hvd.size()


def test_init_twice_is_one_engine(size: int) -> None:
    handle = hvd.allreduce_async(torch.ones(3), op=hvd.Sum)
    hvd.init()
    assert hvd.synchronize(handle).tolist() == [size] * 3, "it must outlive a second init()"
    hvd.init(None)
    hvd.init(comm=[0])
    assert hvd.size() == size


def test_init_with_what_is_no_communicator() -> None:
    for wrong in ("world", 3, {"a": 1}):
        with pytest.raises(ValueError, match="Invalid type of argument comm"):
            hvd.init(wrong)
    assert hvd.is_initialized() is False


def test_shutdown_is_safe_at_any_time() -> None:
    for _ in range(3):
        hvd.shutdown()
    assert hvd.is_initialized() is False
    hvd.init()
    assert hvd.is_initialized() is True
    hvd.barrier()
    hvd.shutdown()
    hvd.shutdown()
    assert hvd.is_initialized() is False


def test_again_and_again(rank: int, size: int) -> None:
    for life in range(10):
        hvd.init()
        assert (hvd.rank(), hvd.size()) == (rank, size)
        handle = hvd.allreduce_async(torch.full((3,), float(life)), op=hvd.Sum)
        assert handle == 1, "handles count from 1 in every life"
        assert hvd.synchronize(handle).tolist() == [float(life * size)] * 3
        assert hvd.allgather(torch.tensor([rank])).tolist() == list(range(size))
        hvd.barrier()
        hvd.shutdown()


def test_handles_of_an_earlier_life(rank: int) -> None:
    handles = [hvd.allreduce_async(torch.ones(2), name=f"early {i}") for i in range(3)]
    hvd.barrier()
    hvd.shutdown()
    for handle in handles:
        assert hvd.synchronize(handle) is None
        with pytest.raises(ValueError, match="was not created or has been cleared"):
            hvd.poll(handle)


def test_what_is_under_way_at_the_end(rank: int, size: int) -> None:
    """The others learn of it when one rank shuts down."""
    hvd.barrier()
    if rank == 0:
        hvd.shutdown()
    else:
        with pytest.raises(hvd.HorovodInternalError, match="Horovod has been shut down"):
            hvd.allreduce(torch.ones(2), name="never")
        assert hvd.is_initialized() is True, "until this rank says shutdown() too"
        for name, call in CALLS.items():
            with pytest.raises(hvd.HorovodInternalError, match="Horovod has been shut down"):
                pytest.fail(f"{name} gave {call()}")
        hvd.shutdown()
    assert hvd.is_initialized() is False


def test_an_optimizer_lives_on_with_the_next_engine(rank: int, size: int) -> None:
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0), model.named_parameters()
    )
    for life in range(3):
        model(torch.full((1, 2), rank + 1.0)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        right = -(life + 1) * (size + 1) / 2
        assert model.weight.tolist() == [[right] * 2]
        hvd.barrier()
        hvd.shutdown()
        hvd.init()


# --- timeline


def events(path: Path) -> Any:
    return json.loads(path.read_text())


def place(name: str) -> Path:
    """A file that all ranks mean, in a directory of rank 0."""
    import tempfile

    directory = tempfile.mkdtemp() if hvd.rank() == 0 else None
    return Path(hvd.broadcast_object(directory, 0, name="directory")) / name


def test_timeline_needs_permission(rank: int) -> None:
    with pytest.raises(ValueError, match="Set HOROVOD_TIMELINE=DYNAMIC"):
        hvd.start_timeline("/dev/null")
    assert hvd.stop_timeline() is None


def test_timelines_started_and_stopped(rank: int, size: int) -> None:
    hvd.barrier()
    hvd.shutdown()
    os.environ["HOROVOD_TIMELINE"] = "DYNAMIC"
    hvd.init()
    for turn, marks in enumerate((False, True)):
        path = place(f"timeline{turn}.json")
        hvd.start_timeline(str(path), mark_cycles=marks)
        hvd.barrier()
        # 2 x 3 numbers with a prefix and a name each.
        hvd.allreduce(torch.ones(2, 3), name=f"sum {turn}", op=hvd.Sum)
        hvd.allgather(torch.ones(2), name="rows")
        hvd.broadcast(torch.ones(2), 0, name="root")
        hvd.barrier()
        hvd.stop_timeline()
        hvd.barrier()
        hvd.allreduce(torch.ones(2), name="not recorded")
        if rank != 0:
            continue
        found = events(path)
        names = {
            e["args"]["name"]: e["pid"]
            for e in found
            if e.get("name") == "process_name" and "name" in e["args"]
        }
        mine = {f"allreduce.sum {turn}", "allgather.rows", "broadcast.root"}
        assert mine <= set(names)
        assert not any("not recorded" in name for name in names)
        begun = {e["name"] for e in found if e["ph"] == "B"}
        assert {"ALLREDUCE", "ALLGATHER", "BROADCAST", "NEGOTIATE_ALLREDUCE"} <= begun
        ends = [e["args"] for e in found if e["ph"] == "E" and "args" in e]
        assert {"dtype": "float32", "shape": "[2, 3]"} in ends
        cycles = [e for e in found if e["ph"] == "i" and e["name"] == "CYCLE_START"]
        assert bool(cycles) == marks
        for name in mine:
            depth = 0
            for e in found:
                if e.get("pid") == names[name] and e["ph"] in "BE":
                    depth += 1 if e["ph"] == "B" else -1
                    assert depth >= 0
            assert depth == 0, "what begins must end"


def test_timeline_from_the_start(rank: int) -> None:
    path = place("whole.json")
    hvd.barrier()
    hvd.shutdown()
    os.environ["HOROVOD_TIMELINE"] = str(path)
    hvd.init()
    hvd.allreduce(torch.ones(2), name="recorded")
    hvd.barrier()
    hvd.shutdown()
    if rank == 0:
        assert any(e.get("args", {}).get("name") == "allreduce.recorded" for e in events(path))


def test_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hvd.init()
        hvd.allreduce(torch.ones(2))
        hvd.allgather(torch.ones(2))
        hvd.broadcast(torch.ones(2), 0)
        hvd.barrier()
        hvd.shutdown()
