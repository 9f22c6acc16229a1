"""Makes empty stand-ins for shared libraries that a program needs and this machine lacks.

    stub_libraries.py FOLDER_TO_READ FOLDER_TO_WRITE

A PyTorch built for CUDA does not load without CUDA's libraries, although its CPU code needs none of
them. Reads every library in the first folder; for each that is needed and found nowhere, writes a
library of that name to the second one. The first of them defines every symbol that is then still
missing: as a function that does nothing and returns 0, or as zeroed memory if it is data. Where
versions of symbols are asked for, they are defined with those versions, one library for each file
that is asked for them.
"""

from __future__ import annotations

import collections
import ctypes
import pathlib
import re
import subprocess
import sys

# None: this program, for what Python itself has.
SYSTEM_LIBRARIES = [
    ctypes.CDLL(name)
    for name in (None, "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1")
]


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed_by(library: pathlib.Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-dW", str(library)))


def symbols(library: pathlib.Path, which: str) -> list[str]:
    """Dynamic symbols, with `@version` where there is one."""
    lines = output_of("nm", "-D", which, "--format=posix", str(library)).splitlines()
    return [line.split()[0] for line in lines if line.split()[1] not in "wv"]


def version_files(library: pathlib.Path) -> dict[str, str]:
    """From a version to the file it is asked of."""
    found, file = {}, ""
    for line in output_of("readelf", "-VW", str(library)).splitlines():
        if match := re.search(r"File: (\S+)", line):
            file = match.group(1)
        elif (match := re.search(r"Name: (\S+)\s+Flags", line)) and file:
            found[match.group(1)] = file
    return found


def on_this_machine(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def in_system(name: str) -> bool:
    return any(hasattr(library, name) for library in SYSTEM_LIBRARIES)


def write_library(path: pathlib.Path, names: list[str], versions: dict[str, list[str]]) -> None:
    """A library with functions `names`, and others under their versions."""
    source = path.with_suffix(".s")
    lines = [".text"]
    for name in names:
        lines += [f".globl {name}", f".type {name},@function", f"{name}:"]
    lines += ["xorl %eax, %eax", "ret"]
    for members in versions.values():
        for name in members:
            lines += [
                f".globl {name}",
                f".type {name},@function",
                f"{name}: xorl %eax, %eax",
                "ret",
            ]
    lines += ['.section .note.GNU-stack,"",@progbits']
    source.write_text("\n".join(lines) + "\n")
    command = ["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{path.name}", "-o", str(path)]
    if versions:
        script = path.with_suffix(".map")
        script.write_text(
            "".join(f"{v} {{ global: {'; '.join(m)}; }};\n" for v, m in versions.items())
        )
        command.append(f"-Wl,--version-script={script}")
    subprocess.run([*command, str(source)], check=True)


def main() -> None:
    read, write = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    write.mkdir(parents=True, exist_ok=True)
    libraries = sorted(path for path in read.rglob("*.so*") if path.is_file())
    here = {path.name for path in libraries}
    needed = {name for path in libraries for name in needed_by(path)}
    missing = {name for name in needed if name not in here and not on_this_machine(name)}
    defined = {s.split("@")[0] for path in libraries for s in symbols(path, "--defined-only")}
    plain: set[str] = set()
    versioned: dict[str, dict[str, set[str]]] = collections.defaultdict(
        lambda: collections.defaultdict(set)
    )
    for path in libraries:
        files = version_files(path)
        for symbol in symbols(path, "--undefined-only"):
            name, _, version = symbol.partition("@")
            version = version.lstrip("@")
            file = files.get(version, "")
            if version and file in missing:
                versioned[file][version].add(name)
            elif not version and name not in defined and not in_system(name):
                plain.add(name)
    for number, name in enumerate(sorted(missing)):
        members = {v: sorted(n) for v, n in versioned[name].items()}
        write_library(write / name, sorted(plain) if number == 0 else [], members)
    print(f"{len(missing)} libraries, {len(plain)} symbols: {' '.join(sorted(missing))}")


if __name__ == "__main__":
    main()
