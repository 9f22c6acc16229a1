"""How an agent is started: the command, and its source, which follows on standard input."""

from __future__ import annotations

import os
import shlex
import sys
from functools import lru_cache

_MODULES = ("frames", "process_tree", "interfaces", "probe", "worker", "main")
_PACKAGE = "horovod_agent"

# One line, since some login shells do not take more. Reads exactly the source: the launcher says
# nothing more until the agent has greeted it.
_BOOT = "import sys;i=sys.stdin.buffer;exec(compile(i.read(int(i.readline())),'agent','exec'))"

_LOADER = """
import sys
def load(name, source):
    module = type(sys)(name)
    module.__package__ = {package!r}
    sys.modules[name] = module
    if source:
        exec(compile(source, name, 'exec'), module.__dict__)
        setattr(sys.modules[{package!r}], name.rpartition('.')[2], module)
for name, source in {modules!r}:
    load(name, source)
sys.modules[{package!r} + '.main'].main()
"""


@lru_cache(maxsize=None)
def agent_source() -> bytes:
    """What goes to the agent's standard input first."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "agent")
    modules = [(_PACKAGE, "")]
    for name in _MODULES:
        with open(os.path.join(folder, name + ".py"), encoding="utf-8") as file:
            modules.append((f"{_PACKAGE}.{name}", file.read()))
    source = _LOADER.format(package=_PACKAGE, modules=modules).encode()
    return b"%d\n" % len(source) + source


def local_agent_command() -> list[str]:
    """Starts the agent of this host; -I and -S keep it from importing anything of the user's."""
    return [sys.executable or "python3", "-I", "-S", "-c", _BOOT]


def remote_agent_command() -> str:
    """The same for a login shell elsewhere: this interpreter if it exists there, or python3."""
    ours = shlex.quote(sys.executable or "python3")
    lines = (
        f"for p in {ours} python3; do "
        f'[ -x "$(command -v "$p")" ] && exec "$p" -I -S -c {shlex.quote(_BOOT)}; done; '
        f'echo "horovodrun needs Python on this host: neither "{ours}", which runs horovodrun, '
        f'nor python3 in PATH ($PATH) is here" >&2; exit 127'
    )
    return "sh -c " + shlex.quote(lines)
