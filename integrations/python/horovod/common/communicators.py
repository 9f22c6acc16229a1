"""mpi4py's communicators, without importing mpi4py before somebody has one."""

import ctypes
from typing import Any, Optional


def is_communicator(comm: Any) -> bool:
    """Whether it is mpi4py's."""
    return type(comm).__module__.split(".")[0] == "mpi4py" and hasattr(comm, "Get_rank")


def mpi_handle(comm: Any) -> Optional[int]:
    """MPI's own handle of it, where that is a pointer, as in Open MPI."""
    from mpi4py import MPI

    return ctypes.c_void_p.from_address(MPI._addressof(comm)).value


def mpi_handle_of_world() -> Optional[int]:
    """The handle of mpi4py's world, None where handles are no pointers: that is no Open MPI."""
    from mpi4py import MPI

    if MPI._sizeof(MPI.Comm) != ctypes.sizeof(ctypes.c_void_p):
        return None
    return mpi_handle(MPI.COMM_WORLD)
