"""init() as the first argument says, and what becomes of it."""

import os
import sys
import time

how = sys.argv[1]
if how in ("communicator", "sets_without_comm", "missing_rank"):
    from mpi4py import MPI  # which starts MPI, and that waits for all processes

from horovod.common.basics import HorovodBasics  # noqa: E402
from horovod.common.process_sets import ProcessSet  # noqa: E402

hvd = HorovodBasics(None)  # what every framework's init() is, without the framework

try:
    if how == "communicator":
        hvd.init(comm=MPI.COMM_WORLD)
    elif how == "sets_without_comm":
        hvd.init(process_sets=[ProcessSet(MPI.COMM_WORLD)])
    elif how == "bad_ranks":
        hvd.init(comm=[0, 5])
    elif how == "same_ranks":
        hvd.init(comm=[0, 0])
    elif how == "comes_late":
        if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
            time.sleep(60)  # longer than anybody waits
        hvd.init()
    elif how == "strange_type":
        hvd.init(comm="world")
    elif how == "missing_rank":
        if os.environ["OMPI_COMM_WORLD_RANK"] == sys.argv[2]:
            time.sleep(20)
        hvd.init()
    else:
        hvd.init()
    print(f"size {hvd.size()} {hvd.mpi_enabled()} {hvd.gloo_enabled()}", flush=True)
    if hvd.mpi_enabled():
        print(f"threads {hvd.mpi_threads_supported()}", flush=True)
        print(f"by {hvd.MPI_LIB_CTYPES.hvdx_mpi_library().decode()}", flush=True)
except (ValueError, NotImplementedError) as error:
    print(f"{type(error).__name__}: {error}", flush=True)
    sys.exit(3)
