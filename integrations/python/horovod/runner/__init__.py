"""Launching jobs: `horovod.run()` here, `horovodrun` in launch.py.

Workers import this, too, so it imports next to nothing; what a launch needs comes when it starts.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence


class _HorovodArgs:
    """Options as horovodrun would have parsed them."""

    def __init__(self) -> None:
        self.num_proc: int | None = 1
        self.min_num_proc: int | None = None
        self.max_num_proc: int | None = None
        self.slots: int | None = None
        self.reset_limit: int | None = None
        self.cooldown_range: Sequence[int] | None = None
        self.elastic_timeout: int | None = None
        self.hosts: str | None = None
        self.hostfile: str | None = None
        self.host_discovery_script: str | None = None
        self.start_timeout: int | None = None
        self.ssh_port: int | None = None
        self.ssh_identity_file: str | None = None
        self.disable_cache: bool | None = None
        self.output_filename: str | None = None
        self.verbose: bool | None = None
        self.config_file: str | None = None
        self.log_level: str | None = None
        self.prefix_output_with_timestamp = False
        self.nics: Any = None
        self.command: list[str] | None = None
        self.run_func: Callable[[], Any] | None = None
        self.executable: str | None = None
        self.use_gloo: bool | None = None
        self.use_mpi: bool | None = None
        self.use_jsrun: bool | None = None
        self.mpi_args: str | None = None
        self.tcp_flag: bool | None = None
        self.binding_args: str | None = None
        self.key: bytes | None = None


def run(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
    num_proc: int = 1,
    min_num_proc: int | None = None,
    max_num_proc: int | None = None,
    slots: int | None = None,
    reset_limit: int | None = None,
    cooldown_range: Sequence[int] | None = None,
    hosts: str | None = None,
    hostfile: str | None = None,
    host_discovery_script: str | None = None,
    start_timeout: int | None = None,
    ssh_port: int | None = None,
    ssh_identity_file: str | None = None,
    disable_cache: bool | None = None,
    output_filename: str | None = None,
    verbose: bool | None = None,
    use_gloo: bool | None = None,
    use_mpi: bool | None = None,
    mpi_args: str | None = None,
    network_interface: str | None = None,
    network_interfaces: Sequence[str] | str | None = None,
    executable: str | None = None,
    np: int | None = None,
    min_np: int | None = None,
    max_np: int | None = None,
) -> list[Any]:
    """Runs `func(*args, **kwargs)` on `num_proc` workers; what it returned, by rank.

    The other arguments are horovodrun's options. `hosts` is `h1:2,h2:2`, or this machine.
    If a worker fails, all are ended, and RuntimeError names its rank, host and last lines.
    """
    from horovod.runner.launch import _run

    if hosts is not None and hostfile is not None:
        raise ValueError("give hosts or hostfile, not both")
    if use_gloo and use_mpi:
        raise ValueError("use_gloo and use_mpi exclude each other")

    options = _HorovodArgs()
    options.num_proc = _renamed("np", np, "num_proc", num_proc)
    options.min_num_proc = _renamed("min_np", min_np, "min_num_proc", min_num_proc)
    options.max_num_proc = _renamed("max_np", max_np, "max_num_proc", max_num_proc)
    nics = _renamed(
        "network_interface", network_interface, "network_interfaces", network_interfaces
    )
    if nics:
        options.nics = nics.split(",") if isinstance(nics, str) else list(nics)
    options.slots = slots
    options.reset_limit = reset_limit
    options.cooldown_range = cooldown_range
    options.hosts = hosts
    options.hostfile = hostfile
    options.host_discovery_script = host_discovery_script
    options.start_timeout = start_timeout
    options.ssh_port = ssh_port
    options.ssh_identity_file = ssh_identity_file
    options.disable_cache = disable_cache
    options.output_filename = output_filename
    options.verbose = verbose
    options.use_gloo = use_gloo
    options.use_mpi = use_mpi
    options.mpi_args = mpi_args
    options.executable = executable
    kwargs = kwargs or {}
    options.run_func = lambda: func(*args, **kwargs)
    return _run(options) or []


def _renamed(old_name: str, old: Any, new_name: str, new: Any) -> Any:
    """The value of an argument that may still come under its old name."""
    if old is None:
        return new
    import warnings

    warnings.warn(f"argument {old_name} is now called {new_name}", DeprecationWarning, stacklevel=3)
    return old
