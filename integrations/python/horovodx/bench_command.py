"""hvdx-bench: the native benchmark, or with --torch or --tensorflow those from Python."""

import os
import sys

from horovodx.library import library_path


def main() -> int:
    """The console command."""
    words = sys.argv[1:]
    if words and words[0] == "--torch":
        from horovodx.torch_bench.__main__ import main as torch_main

        return torch_main(words[1:])
    if words and words[0] == "--tensorflow":
        from horovodx.tensorflow_bench.__main__ import main as tensorflow_main

        return tensorflow_main(words[1:])
    program = library_path("hvdx-bench")
    os.execv(program, [program, *words])


if __name__ == "__main__":
    sys.exit(main())
