"""HorovodX: the engine under `horovod`, and what goes beyond Horovod.

Scripts import `horovod.torch` and its sisters; this package holds the native libraries
(`libhorovodx.so`, `_horovodx`) and our own additions. It imports no framework.
"""

from horovodx._horovodx import version as _version

__version__: str = _version()
