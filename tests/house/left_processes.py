#!/usr/bin/env python3
"""Prints the processes that have HVDX_TEST_RUN=MARK in their environment, but for this one.

    left_processes.py MARK
"""

import os
import pathlib
import sys


def main():
    mark = b"HVDX_TEST_RUN=" + sys.argv[1].encode()
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            marked = mark in (process / "environ").read_bytes().split(b"\0")
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has just ended
        if marked and words:
            print(process.name, words)


if __name__ == "__main__":
    main()
