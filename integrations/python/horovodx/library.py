"""Where the native libraries lie: beside this file."""

import os

LIBRARY_DIRECTORY: str = os.path.dirname(os.path.abspath(__file__))


def library_path(name: str = "libhorovodx.so") -> str:
    """The full path of one of our native libraries."""
    return os.path.join(LIBRARY_DIRECTORY, name)
