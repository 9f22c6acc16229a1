"""Beginning, end and facts of a job, through the engine's C ABI."""

import atexit
import ctypes
import os
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple, Union

from horovod.common.communicators import is_communicator, mpi_handle, mpi_handle_of_world
from horovod.common.process_sets import ProcessSet, _init_process_sets, _setup
from horovodx.library import library_path

NOT_INITIALIZED = "Horovod has not been initialized; use hvd.init()."


def _first_line(mpi: Any) -> str:
    return str(mpi.Get_library_version()).split("\n")[0].strip()


def _split_comm(comm: Optional[Any]) -> Tuple[List[int], List[Any]]:
    """The argument `comm` as ranks or as communicators; at most one of the two has any."""
    if comm is None:
        return [], []
    if is_communicator(comm):
        return [], [comm]
    if isinstance(comm, (list, tuple, range)):
        members = list(comm)
        if all(isinstance(one, int) and not isinstance(one, bool) for one in members):
            return members, []
        if all(is_communicator(one) for one in members):
            return [], members
    raise ValueError(
        f"Invalid type of argument comm: {type(comm).__name__}; expected None, a list of ranks, an "
        "mpi4py communicator or a list of these."
    )


def _ints(values: Sequence[int]) -> "ctypes.Array[ctypes.c_int]":
    return (ctypes.c_int * len(values))(*values)


class HorovodBasics:
    """The engine of this process; every binding has one of these, all mean the same engine.

    The arguments, where a framework's own library was once looked for, are accepted and not needed.
    """

    HOROVOD_PROCESS_SET_ERROR_INIT = -1
    HOROVOD_PROCESS_SET_ERROR_DYNAMIC = -2
    HOROVOD_PROCESS_SET_ERROR_UNKNOWN_SET = -3
    HOROVOD_PROCESS_SET_ERROR_FOREIGN_SET = -4
    HOROVOD_PROCESS_SET_ERROR_SHUTDOWN = -5
    HOROVOD_PROCESS_SET_ERROR_EXISTING_SET = -6

    def __init__(self, pkg_path: Optional[str], *args: str) -> None:
        self.MPI_LIB_CTYPES = ctypes.CDLL(library_path(), mode=ctypes.RTLD_GLOBAL)
        library = self.MPI_LIB_CTYPES
        library.hvdx_last_error.restype = ctypes.c_char_p
        library.hvdx_mpi_library.restype = ctypes.c_char_p
        library.hvdx_mpi_world.restype = ctypes.c_void_p
        library.horovod_comm_process_set.argtypes = [ctypes.c_void_p]
        for name in ("init", "init_multi_comm", "is_homogeneous", "mpi_enabled", "mpi_built",
                     "gloo_enabled", "gloo_built", "ddl_built", "ccl_built", "cuda_built",
                     "rocm_built"):
            getattr(library, "horovod_" + name).restype = ctypes.c_bool
        self.Average: int = library.horovod_reduce_op_average()
        self.Sum: int = library.horovod_reduce_op_sum()
        self.Adasum: int = library.horovod_reduce_op_adasum()
        self.Min: int = library.horovod_reduce_op_min()
        self.Max: int = library.horovod_reduce_op_max()
        self.Product: int = library.horovod_reduce_op_product()

    # --- life

    def init(
        self,
        comm: Optional[Any] = None,
        process_sets: Optional[Union[str, Sequence[ProcessSet]]] = None,
    ) -> None:
        """Starts the engine and finds the other ranks; does nothing if it runs already.

        `comm`: who is in the job, where ranks meet by MPI (elsewhere ranks given mean nothing): a
        list of ranks of MPI's world, an mpi4py communicator, or a list of communicators, of which
        all but the first make process sets. `process_sets`: sets to register, or "dynamic" to allow
        adding them later. All ranks must pass the same sets in the same order; each passes the
        communicator that it is in.
        """
        ranks, comms = _split_comm(comm)
        sets: List[ProcessSet] = []
        if isinstance(process_sets, str):
            if process_sets.lower() != "dynamic":
                raise ValueError(
                    f'process_sets is "{process_sets}"; expected a list of ProcessSet or "dynamic"'
                )
            os.environ["HOROVOD_DYNAMIC_PROCESS_SETS"] = "1"
        elif process_sets is not None:
            sets = list(process_sets)
        for process_set in sets:
            if process_set.mpi_comm is not None and not comms:
                raise NotImplementedError(
                    "Process sets made from MPI communicators need init(comm=<communicator>)."
                )
        if comms:
            comms = [*comms, *(s.mpi_comm for s in sets if s.mpi_comm is not None)]
            if any(not is_communicator(one) for one in comms):
                raise ValueError("comm: expected communicators of mpi4py and nothing else.")
        atexit.unregister(self.shutdown)  # of an earlier init
        atexit.register(self.shutdown)
        self._start(ranks, comms, [s.ranks for s in sets if s.ranks and s.mpi_comm is None])
        _setup(self)
        _init_process_sets(sets)

    def _start(self, ranks: List[int], comms: List[Any], sets: List[List[int]]) -> None:
        library = self.MPI_LIB_CTYPES
        flat = _ints([rank for one in sets for rank in one])
        sizes = _ints([len(one) for one in sets])
        if comms:
            handles = self._handles(comms)
            started = library.horovod_init_multi_comm(handles, len(comms), flat, sizes, len(sets))
        else:
            started = library.horovod_init(_ints(ranks), len(ranks), flat, sizes, len(sets))
        if not started:
            raise ValueError(f"Horovod initialization failed: {self._last_error()}")

    def _handles(self, comms: List[Any]) -> "ctypes.Array[ctypes.c_void_p]":
        """MPI's own handles of mpi4py's communicators, if both mean the same MPI."""
        ours = self.MPI_LIB_CTYPES.hvdx_mpi_library()
        if ours is None:
            raise ValueError(
                "Horovod has not been built with MPI support that works here, so comm must be "
                f"None: {self._last_error()}"
            )
        theirs = mpi_handle_of_world()
        if theirs != self.MPI_LIB_CTYPES.hvdx_mpi_world():
            from mpi4py import MPI

            raise ValueError(
                f"comm is a communicator of another MPI: mpi4py uses {_first_line(MPI)}, Horovod "
                f"{ours.decode()}. HOROVODX_MPI_LIBRARY can name the libmpi that mpi4py uses."
            )
        return (ctypes.c_void_p * len(comms))(*(mpi_handle(comm) for comm in comms))

    def shutdown(self) -> None:
        """Stops the engines of all ranks. Safe at any time; init() may follow."""
        self.MPI_LIB_CTYPES.horovod_shutdown()

    def is_initialized(self) -> bool:
        """True from the end of init() until shutdown()."""
        return bool(self.MPI_LIB_CTYPES.horovod_is_initialized())

    # --- timeline

    def start_timeline(self, file_path: str, mark_cycles: bool = False) -> None:
        """Starts a timeline in `file_path`, by rank 0; HOROVOD_TIMELINE must be set at init()."""
        result = self.MPI_LIB_CTYPES.horovod_start_timeline(
            os.fsencode(file_path), ctypes.c_bool(mark_cycles)
        )
        if result == -1:
            raise ValueError(NOT_INITIALIZED)
        if result == -2:
            raise ValueError(
                "Set HOROVOD_TIMELINE=DYNAMIC in the environment before init() to start a "
                "timeline while the job runs."
            )

    def stop_timeline(self) -> None:
        """Ends the timeline, if one is being written."""
        if self.MPI_LIB_CTYPES.horovod_stop_timeline() == -1:
            raise ValueError(NOT_INITIALIZED)

    # --- who am I

    def _number(self, name: str) -> int:
        value = int(getattr(self.MPI_LIB_CTYPES, "horovod_" + name)())
        if value < 0:
            raise ValueError(NOT_INITIALIZED)
        return value

    def size(self) -> int:
        """Number of ranks."""
        return self._number("size")

    def local_size(self) -> int:
        """Number of ranks on this host."""
        return self._number("local_size")

    def cross_size(self) -> int:
        """Number of hosts that have a rank with my local rank."""
        return self._number("cross_size")

    def rank(self) -> int:
        """Number of this process among all, from 0."""
        return self._number("rank")

    def local_rank(self) -> int:
        """Number of this process on its host, from 0."""
        return self._number("local_rank")

    def cross_rank(self) -> int:
        """Number of this host among those that have my local rank, from 0."""
        return self._number("cross_rank")

    def is_homogeneous(self) -> bool:
        """True if every host has the same number of ranks."""
        return bool(self.MPI_LIB_CTYPES.horovod_is_homogeneous())

    # --- what is there

    def mpi_threads_supported(self) -> bool:
        """Whether MPI may be called from several threads; an error without MPI."""
        if not self.mpi_enabled():
            raise ValueError("Horovod MPI is not enabled; there is nothing to say of its threads.")
        return bool(self._number("mpi_threads_supported"))

    def mpi_enabled(self) -> bool:
        """True if ranks have met by MPI."""
        return bool(self.MPI_LIB_CTYPES.horovod_mpi_enabled())

    def mpi_built(self) -> bool:
        """True if MPI can be used."""
        return bool(self.MPI_LIB_CTYPES.horovod_mpi_built())

    def gloo_enabled(self) -> bool:
        """True if ranks meet or hosts are linked without MPI (what Horovod uses Gloo for)."""
        return bool(self.MPI_LIB_CTYPES.horovod_gloo_enabled())

    def gloo_built(self) -> bool:
        """True if our own transports can be used."""
        return bool(self.MPI_LIB_CTYPES.horovod_gloo_built())

    def nccl_built(self) -> int:
        """NCCL's version code, 0 without NCCL."""
        return int(self.MPI_LIB_CTYPES.horovod_nccl_built())

    def ddl_built(self) -> bool:
        """False: IBM's DDL is not used."""
        return bool(self.MPI_LIB_CTYPES.horovod_ddl_built())

    def ccl_built(self) -> bool:
        """False: oneCCL is not used."""
        return bool(self.MPI_LIB_CTYPES.horovod_ccl_built())

    def cuda_built(self) -> bool:
        """True if CUDA tensors are reduced on the GPU."""
        return bool(self.MPI_LIB_CTYPES.horovod_cuda_built())

    def rocm_built(self) -> bool:
        """True if ROCm tensors are reduced on the GPU."""
        return bool(self.MPI_LIB_CTYPES.horovod_rocm_built())

    # --- process sets, for horovod.common.process_sets

    def _last_error(self) -> str:
        return str(self.MPI_LIB_CTYPES.hvdx_last_error().decode(errors="replace"))

    def _refuse_set(self, code: int) -> NoReturn:
        if code == self.HOROVOD_PROCESS_SET_ERROR_INIT:
            raise ValueError(NOT_INITIALIZED)
        if code == self.HOROVOD_PROCESS_SET_ERROR_DYNAMIC:
            raise ValueError(
                "Set HOROVOD_DYNAMIC_PROCESS_SETS=1 in the environment, or call "
                'init(process_sets="dynamic"), to change process sets after init().'
            )
        if code == self.HOROVOD_PROCESS_SET_ERROR_UNKNOWN_SET:
            raise ValueError("Process set provided does not exist, or has not been registered.")
        if code == self.HOROVOD_PROCESS_SET_ERROR_FOREIGN_SET:
            raise ValueError("Process is not part of provided process set.")
        if code == self.HOROVOD_PROCESS_SET_ERROR_SHUTDOWN:
            raise ValueError("Horovod is shutting down.")
        raise ValueError(f"Process set: {self._last_error()}")

    def _add_process_set_impl(self, ranks: Sequence[int]) -> Optional[int]:
        code = int(self.MPI_LIB_CTYPES.horovod_add_process_set(_ints(ranks), len(ranks)))
        if code == self.HOROVOD_PROCESS_SET_ERROR_EXISTING_SET:
            return None
        if code < 0:
            self._refuse_set(code)
        return code

    def _remove_process_set_impl(self, process_set_id: int) -> Optional[int]:
        code = int(self.MPI_LIB_CTYPES.horovod_remove_process_set(process_set_id))
        if code == self.HOROVOD_PROCESS_SET_ERROR_UNKNOWN_SET:
            return None
        if code < 0:
            self._refuse_set(code)
        return code

    def _process_set_rank(self, process_set_id: int) -> int:
        code = int(self.MPI_LIB_CTYPES.horovod_process_set_rank(process_set_id))
        if code < 0:
            self._refuse_set(code)
        return code

    def _process_set_size(self, process_set_id: int) -> int:
        code = int(self.MPI_LIB_CTYPES.horovod_process_set_size(process_set_id))
        if code < 0:
            self._refuse_set(code)
        return code

    def _get_process_set_ids_and_ranks(self) -> Dict[int, List[int]]:
        library = self.MPI_LIB_CTYPES
        count = int(library.horovod_number_of_process_sets())
        if count < 0:
            self._refuse_set(count)
        ids = _ints([0] * count)
        library.horovod_process_set_ids(ids)
        sets: Dict[int, List[int]] = {}
        for set_id in ids:
            ranks = _ints([0] * int(library.horovod_process_set_size(set_id)))
            library.horovod_process_set_ranks(set_id, ranks)
            sets[int(set_id)] = list(ranks)
        return sets

    def _comm_process_set_id(self, comm: Any) -> int:
        code = int(self.MPI_LIB_CTYPES.horovod_comm_process_set(mpi_handle(comm)))
        if code < 0:
            self._refuse_set(code)
        return code
