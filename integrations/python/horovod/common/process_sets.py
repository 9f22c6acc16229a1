"""Process sets: ranks that do collectives among themselves."""

from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, Union

from horovod.common.communicators import is_communicator

if TYPE_CHECKING:
    from horovod.common.basics import HorovodBasics

_basics: Optional["HorovodBasics"] = None


class ProcessSet:
    """Some of the job's ranks. Register it with init(process_sets=[...]) or add_process_set()."""

    process_set_id: Optional[int] = None
    ranks: Optional[List[int]] = None
    mpi_comm: Optional[Any] = None

    def __init__(self, ranks_or_comm: Union[Iterable[int], Any]) -> None:
        if is_communicator(ranks_or_comm):
            self.mpi_comm = ranks_or_comm
            return
        ranks = list(ranks_or_comm)
        if any(not isinstance(rank, int) or isinstance(rank, bool) for rank in ranks):
            raise ValueError(f"ProcessSet: ranks must be integers, got {ranks}")
        self.ranks = sorted(ranks)

    def _registered(self) -> "HorovodBasics":
        if _basics is None:
            raise ValueError("Horovod has not been initialized; use hvd.init().")
        return _basics

    def size(self) -> Optional[int]:
        """Number of its ranks; None if it is not registered."""
        if self.process_set_id is None:
            return None
        return self._registered()._process_set_size(self.process_set_id)

    def rank(self) -> Optional[int]:
        """My number in it, from 0; None if it is not registered; an error if I am not in it."""
        if self.process_set_id is None:
            return None
        return self._registered()._process_set_rank(self.process_set_id)

    def included(self) -> Optional[bool]:
        """Whether I am in it; None if its ranks are not known yet."""
        if self.ranks is None:
            return None
        return self._registered().rank() in self.ranks

    def __str__(self) -> str:
        return (
            f"ProcessSet(process_set_id={self.process_set_id}, ranks={self.ranks}, "
            f"mpi_comm={self.mpi_comm})"
        )

    __repr__ = __str__


global_process_set = ProcessSet([])
global_process_set.process_set_id = 0
global_process_set.ranks = None


def _setup(basics: "HorovodBasics") -> None:
    """Called by init(): from now on sets can be asked about."""
    global _basics
    _basics = basics


def _running() -> "HorovodBasics":
    if _basics is None or not _basics.is_initialized():
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return _basics


def _init_process_sets(process_sets: Sequence[ProcessSet]) -> None:
    """Fills in the ids that the engine has given; an error for a set that was given twice."""
    basics = _running()
    ranks_of = basics._get_process_set_ids_and_ranks()
    for process_set in process_sets:
        if process_set.mpi_comm:  # not MPI_COMM_NULL: its owner is in none of these sets
            process_set.ranks = ranks_of[basics._comm_process_set_id(process_set.mpi_comm)]
    ids = {tuple(ranks): i for i, ranks in ranks_of.items()}
    global_process_set.ranks = next(list(ranks) for ranks, i in ids.items() if i == 0)
    taken = {0}
    repeated: List[ProcessSet] = []
    for process_set in process_sets:
        if process_set.ranks is None:
            continue
        found = ids.get(tuple(process_set.ranks or ()))
        if found is None or found in taken:
            process_set.process_set_id = None
            repeated.append(process_set)
        else:
            process_set.process_set_id = found
            taken.add(found)
    if repeated:
        raise ValueError(
            f"{repeated[0]} is a duplicate of another process set, or was not given to the first "
            "init()."
        )


def _temp_process_set_object(process_set_id: int) -> ProcessSet:
    """A ProcessSet for an id alone."""
    process_set = ProcessSet(_running()._get_process_set_ids_and_ranks()[process_set_id])
    process_set.process_set_id = process_set_id
    return process_set


def add_process_set(process_set: Union[ProcessSet, Iterable[int]]) -> ProcessSet:
    """Registers a set while the job runs: every rank must call it, all in the same order."""
    if not isinstance(process_set, ProcessSet):
        process_set = ProcessSet(process_set)
    if process_set.mpi_comm is not None or process_set.ranks is None:
        raise NotImplementedError("Sets made from MPI communicators can't be added after init().")
    process_set_id = _running()._add_process_set_impl(process_set.ranks)
    if process_set_id is None:
        raise ValueError(f"A duplicate process set exists already: {process_set}")
    process_set.process_set_id = process_set_id
    return process_set


def remove_process_set(process_set: ProcessSet) -> bool:
    """Forgets a set. Every rank of the world must call it. False for one that can't be removed."""
    if process_set is global_process_set or not process_set.process_set_id:
        return False
    if _running()._remove_process_set_impl(process_set.process_set_id) is None:
        return False
    process_set.process_set_id = None
    return True
