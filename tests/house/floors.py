#!/usr/bin/env python3
"""Fails if a source file includes a room on a higher floor, or a neighbour on its own.

    floors.py [ROOT]

Reads every #include of kernels/, horovodx/, bindings/, integrations/ and tools/ under ROOT and
prints each one that goes the wrong way. Exit code: 0 if there is none, 1 if there is, 2 if there
was nothing to read.
"""

import pathlib
import re
import sys

# Lowest first. Rooms on one line are neighbours and do not include each other. A folder that is not
# listed belongs to the nearest one above it that is.
FLOORS = [
    ["kernels"],
    ["horovodx/base"],
    ["horovodx/topology", "horovodx/mpi", "horovodx/tls"],
    ["horovodx/rendezvous"],
    ["horovodx/transport"],
    ["horovodx/transport/loopback", "horovodx/transport/shm", "horovodx/transport/tcp",
     "horovodx/transport/mpi"],
    ["horovodx/transport/registry", "horovodx/transport/process"],
    ["horovodx/collectives/patterns"],
    ["horovodx/collectives"],
    ["horovodx/fusion", "horovodx/schedule", "horovodx/tuning"],
    ["horovodx/negotiation"],
    ["horovodx/runtime"],
    ["horovodx/api"],
    ["bindings", "tools"],
    ["integrations", "integrations/torch", "integrations/tensorflow"],
]
TOPS = ["kernels", "horovodx", "bindings", "integrations", "tools"]
SUFFIXES = {".h", ".cc", ".cu", ".c", ".hpp", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def room_of(path):
    """The room and floor of a path such as horovodx/transport/tcp/socket.h, or None."""
    # registry.h and registry.cc stand in transport/ but know all transports: by name, not folder.
    parts = pathlib.PurePosixPath(path).with_suffix("").parts
    best = None
    for floor, rooms in enumerate(FLOORS):
        for room in rooms:
            length = len(room.split("/"))
            if parts[:length] == tuple(room.split("/")) and (not best or length > best[0]):
                best = (length, room, floor)
    return best and best[1:]


def complaint(source, target, quoted):
    """What is wrong with `source` including `target`; None if nothing."""
    if target.split("/")[0] not in TOPS:
        if not quoted:
            return None  # a library
        if target.split("/")[0] == "tests":
            return "includes a test"
        return "is not rooted at the top of the repository"
    to = room_of(target)
    mine = room_of(source)
    if to is None:
        return "is in no room"
    if mine is None or mine[0] == to[0] or mine[1] > to[1]:
        return None
    return "is sideways" if mine[1] == to[1] else "is upward"


def check(root):
    """(files read, list of complaints)."""
    complaints = []
    files = [f for top in TOPS for f in sorted((root / top).rglob("*")) if f.suffix in SUFFIXES]
    for file in files:
        source = file.relative_to(root).as_posix()
        if room_of(source) is None:
            complaints.append(f"{source}: is in no room; add its folder to FLOORS")
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            target = match.group(1) or match.group(2)
            what = complaint(source, target, quoted=match.group(1) is not None)
            if what:
                line = text.count("\n", 0, match.start()) + 1
                complaints.append(f'{source}:{line}: #include "{target}" {what}')
    return len(files), complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files, complaints = check(root)
    for line in complaints:
        print(line)
    print(f"{files} files, {len(complaints)} wrong includes")
    if files == 0:
        return 2
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
