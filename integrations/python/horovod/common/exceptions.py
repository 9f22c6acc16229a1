"""Exceptions that scripts and elastic training catch."""

from horovodx.errors import HorovodInternalError

__all__ = [
    "HorovodInternalError",
    "HorovodVersionMismatchError",
    "HostsUpdatedInterrupt",
    "get_version_mismatch_message",
]


class HostsUpdatedInterrupt(RuntimeError):
    """Hosts came or went; training goes on after a reset.

    `skip_sync`: the state need not be synchronised again, since only hosts were removed.
    """

    def __init__(self, skip_sync: bool) -> None:
        super().__init__(skip_sync)
        self.skip_sync = skip_sync


class HorovodVersionMismatchError(ImportError):
    """A framework of another version than the one this package was made for."""

    def __init__(self, name: str, version: str, installed_version: str) -> None:
        super().__init__(get_version_mismatch_message(name, version, installed_version))
        self.name = name
        self.version = version
        self.installed_version = installed_version


def get_version_mismatch_message(name: str, version: str, installed_version: str) -> str:
    """Says which version of `name` was expected and which is there."""
    return (
        f"{name} is installed in version {version}, but Horovod was built for version "
        f"{installed_version}; install Horovod again with the {name} you use."
    )
