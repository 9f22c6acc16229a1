"""Which launcher runs a job."""

from __future__ import annotations

from typing import Any, Callable, NoReturn

from horovod.common import util
from horovod.runner.util.lsf import LSFUtils

_MPI_MISSING = (
    "MPI support has not been built, or there is no Open MPI here that it could use: {why}. "
    "(HOROVOD_WITH_MPI=1 has no effect: what is installed counts.) Leave out --mpi and --jsrun: "
    "horovodrun then starts the processes itself and needs no MPI."
)
_GLOO_MISSING = (
    "Gloo support has not been built: the native library is missing or broken. Install again, "
    "with HOROVOD_WITH_GLOO=1 to make sure of it."
)
_NONE_BUILT = (
    "Neither MPI nor Gloo support has been built: the native library is missing or broken. "
    "Install again; horovodrun --check-build --verbose tells more."
)


def is_gloo_used(
    use_gloo: bool | None = None, use_mpi: bool | None = None, use_jsrun: bool | None = None
) -> bool:
    """Whether our own launcher runs the job, given these choices."""
    if use_gloo:
        return True
    if use_mpi or use_jsrun:
        return False
    return bool(util.gloo_built(verbose=False)) or not util.mpi_built(verbose=False)


def _refuse_mpi() -> NoReturn:
    raise ValueError(_MPI_MISSING.format(why=util.why_no_mpi()))


def run_controller(
    use_gloo: bool | None,
    gloo_run: Callable[[], Any],
    use_mpi: bool | None,
    mpi_run: Callable[[], Any],
    use_jsrun: bool | None,
    js_run: Callable[[], Any],
    verbosity: int | None,
) -> None:
    """Calls the one of the three that was asked for and exists, or says why it cannot."""
    verbose = verbosity is not None and verbosity >= 2
    if use_gloo:
        if not util.gloo_built(verbose=verbose):
            raise ValueError(_GLOO_MISSING)
        gloo_run()
    elif use_mpi:
        if not util.mpi_built(verbose=verbose):
            _refuse_mpi()
        mpi_run()
    elif use_jsrun:
        if not util.mpi_built(verbose=verbose):
            _refuse_mpi()
        if not LSFUtils.using_lsf():
            raise ValueError("Horovod did not detect an LSF job; --jsrun works inside of one only.")
        js_run()
    else:
        _run_default(gloo_run, mpi_run, js_run, verbose)


def _run_default(
    gloo_run: Callable[[], Any],
    mpi_run: Callable[[], Any],
    js_run: Callable[[], Any],
    verbose: bool,
) -> None:
    # Ours first, whatever else is there: it starts faster, and its errors name ranks and hosts.
    from horovod.runner.js_run import is_jsrun_installed

    if util.gloo_built(verbose=verbose):
        gloo_run()
    elif util.mpi_built(verbose=verbose):
        if LSFUtils.using_lsf() and is_jsrun_installed():
            js_run()
        else:
            mpi_run()
    else:
        raise ValueError(_NONE_BUILT)
