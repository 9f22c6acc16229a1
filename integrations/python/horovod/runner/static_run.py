"""From parsed options to a job with fixed hosts."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any, Mapping

from horovod.runner.common.util.settings import Settings
from horovod.runner.common.util.timeout import start_timeout_of
from horovod.runner.driver.launch_job import DEFAULT_START_TIMEOUT, Job, launch_job


def settings_of(args: Any) -> Settings:
    """The settings that options mean."""
    seconds = args.start_timeout
    if seconds is None:
        seconds = float(os.environ.get("HOROVOD_START_TIMEOUT") or DEFAULT_START_TIMEOUT)
    return Settings(
        num_proc=args.num_proc,
        hosts=args.hosts,
        verbose=2 if args.verbose else 0,
        ssh_port=args.ssh_port,
        ssh_identity_file=args.ssh_identity_file,
        extra_mpi_args=args.mpi_args,
        tcp_flag=args.tcp_flag,
        binding_args=args.binding_args,
        start_timeout=start_timeout_of(seconds),
        output_filename=args.output_filename,
        run_func_mode=args.run_func is not None,
        nics=args.nics,
        prefix_output_with_timestamp=bool(args.prefix_output_with_timestamp),
    )


def run_command(args: Any, env: Mapping[str, str]) -> None:
    """Runs the command of `args` on all ranks."""
    job = Job(settings_of(args), list(args.command), env, open_nic_cache=partial(nic_cache, args))
    launch_job(job)


def run_function(args: Any, env: Mapping[str, str]) -> list[Any]:
    """Runs the function of `args` on all ranks; what it returned, by rank."""
    from horovod.runner.function_pickle import pack_function, unpack_results

    words = [args.executable or sys.executable, "-m", "horovod.runner.run_task"]
    function = pack_function(args.run_func)
    open_cache = partial(nic_cache, args)
    job = Job(settings_of(args), words, env, function=function, open_nic_cache=open_cache)
    launch_job(job)
    return unpack_results(job.results, args.num_proc)


def nic_cache(args: Any) -> Any:
    """What was found out before about the networks of these hosts."""
    if args.disable_cache:
        return None
    import hashlib

    from horovod.runner import launch
    from horovod.runner.util.cache import Cache

    about = f"{args.num_proc} {args.hosts} {args.ssh_port} {args.ssh_identity_file}"
    try:
        digest = hashlib.sha256(about.encode()).hexdigest()
        return Cache(launch.CACHE_FOLDER, launch.CACHE_STALENESS_THRESHOLD_MINUTES, digest)
    except OSError:
        return None  # no home to write to
