"""A rank of soak.py: init, some steps, shutdown, again and again in one process."""

from __future__ import annotations

import os
import time
from pathlib import Path

from light import Light


def main() -> None:
    folder = Path(os.environ["SOAK_FOLDER"])
    engine = Light()
    rank = int(os.environ["HOROVOD_RANK"])
    lives, last = 0, False
    while not last:
        os.environ["HOROVODX_TRANSPORT"] = ("auto", "tcp")[lives % 2]
        engine.basics.init()
        for _ in range(20):
            last = rank == 0 and (folder / "stop").exists()
            handles = [
                engine.submit("large", 1 << 18, 1.0),
                engine.submit("odd", 1001, 1.0),
                engine.submit("last", 1, float(last)),
            ]
            engine.wait_all(handles)
            assert handles[0].values[0] == handles[1].values[1000] == 2
            last = handles[2].values[0] > 0
            if last:
                break
        engine.basics.shutdown()
        lives += 1
        (folder / f"lives.{rank}").write_text(str(lives))
        (folder / f"pid.{rank}").write_text(str(os.getpid()))
        time.sleep(0.05)


if __name__ == "__main__":
    main()
