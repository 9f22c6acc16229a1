"""One rank of a drill: lives up to a moment, at which one of the ranks (or the world) goes wrong.

Started by drill.py under horovodrun or mpirun. All ranks meet through files in DRILL_FOLDER:
`ready.R`: rank R has come to the moment; `about`: the victim is about to go wrong, once the drill
has `looked` at the job's sockets; `struck`: when it went wrong (CLOCK_MONOTONIC); `stop`:
all may end; `report.R`: how it went for rank R.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from typing import Any, Callable

import faults
from outside import listening_ports

_SECONDS = 60.0  # for the others to come to the moment
_MOST_STEPS = 400  # until a plan runs


class Drill:
    """What is to go wrong, and this rank's part in it."""

    def __init__(self) -> None:
        self.folder = os.environ["DRILL_FOLDER"]
        self.fault = os.environ["DRILL_FAULT"]
        self.moment = os.environ["DRILL_MOMENT"]
        self.count = int(os.environ["DRILL_COUNT"])
        prefix = "HOROVOD_" if "HOROVOD_RANK" in os.environ else "OMPI_COMM_WORLD_"
        self.rank = int(os.environ[prefix + "RANK"])
        self.size = int(os.environ[prefix + "SIZE"])
        victim = int(os.environ["DRILL_VICTIM"])
        self.is_victim = self.rank == victim
        # At init one rank comes late, so that there is time for something to go wrong.
        self.is_late = self.rank == (self.size - 1 if victim != self.size - 1 else 0)
        self.from_outside = os.environ.get("DRILL_FROM_OUTSIDE") == "1"
        self.is_wrong = self.fault in faults.IN_SUBMISSION and self.is_victim
        self.errors: list[dict[str, Any]] = []
        random.seed(int(os.environ["DRILL_SEED"]) + self.rank)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def say(self, name: str, text: str = "") -> None:
        with open(self.path(name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path(name + ".new"), self.path(name))

    def said(self, name: str) -> bool:
        return os.path.exists(self.path(name))

    def await_saying(self, *names: str) -> None:
        deadline = time.monotonic() + _SECONDS
        while missing := [name for name in names if not self.said(name)]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"drill: nobody said {missing} within {_SECONDS:g} s")
            time.sleep(0.005)

    def ready(self) -> None:
        self.say(f"ready.{self.rank}", json.dumps({"pid": os.getpid(), "ports": listening_ports()}))

    def all_ready(self) -> bool:
        return all(self.said(f"ready.{rank}") for rank in range(self.size))

    def await_ready(self, but: int = -1) -> None:
        self.await_saying(*(f"ready.{rank}" for rank in range(self.size) if rank != but))

    # --- the fault ---

    @property
    def strikes(self) -> bool:
        """Whether this rank does it, to itself."""
        return self.is_victim and not self.from_outside

    def await_look(self) -> None:
        """A job that is over before anybody looked at its sockets proves nothing about them."""
        self.say("about")
        self.await_saying("looked")

    def strike(self) -> None:
        """May not return."""
        self.await_look()
        self.say("struck", str(time.monotonic()))
        if self.fault not in faults.IN_SUBMISSION:
            faults.ON_ITSELF[self.fault]()
        self.say("stop")

    def strike_soon(self, wait: Callable[[], None], seconds: float) -> None:
        """The same in another thread, some time after `wait`."""

        def run() -> None:
            wait()
            time.sleep(seconds)
            try:
                self.strike()
            except Exception as error:
                self.note(error)
                self.report("raised")
                os._exit(3)

        threading.Thread(target=run, daemon=True).start()

    def await_struck(self) -> None:
        self.await_saying("struck")

    # --- the report ---

    def note(self, error: BaseException) -> None:
        entry = {"type": type(error).__name__, "message": str(error), "at": time.monotonic()}
        self.errors.append(entry)

    def report(self, end: str) -> None:
        said = {"errors": self.errors, "end": end, "at": time.monotonic(), "pid": os.getpid()}
        self.say(f"report.{self.rank}", json.dumps(said))


class Life:
    """A rank's life after init()."""

    def __init__(self, drill: Drill, engine: Any) -> None:
        self._drill = drill
        self._engine = engine
        self._steps = 0
        # What can stand in a plan leaves no member without data to wait for.
        self._empty = [("empty", 0, 0.0, 7)] if drill.moment != "planned" else []
        self._pause = float(os.environ.get("DRILL_PAUSE", "0"))
        self.all_planned = False  # the last step ran by plan, and all ranks know

    def submit(self, wrong: bool = False) -> list[Any]:
        """Tensors of one step; `wrong`: with the victim's mistake."""
        drill, submit = self._drill, self._engine.submit
        fault = drill.fault if wrong else ""
        stop = drill.rank == 0 and drill.said("stop")
        work: list[tuple[str, int, float, int]] = [
            ("small", 3, 1.0, 7),
            ("large", drill.count, 1.0, 7),
            ("odd", 1001, 1.0, 7),
            *self._empty,
            ("plan", 1, float(self._in_plan()), 7),
            ("stop", 1, float(stop), 7),
        ]
        if fault == "other shape":
            work[2] = ("odd", 1002, 1.0, 7)
        elif fault == "other type":
            work[2] = ("odd", 1001, 1.0, 4)
        elif fault == "other name":
            work[2] = ("strange", 1001, 1.0, 7)
        elif fault == "other order":
            work.reverse()
        elif fault == "never submits":
            del work[2]
        return [submit(*one) for one in work]

    def _in_plan(self) -> bool:
        return bool(self._engine.counter("plans_started") > self._engine.counter("plans_left"))

    def finish(self, handles: list[Any]) -> bool:
        """Waits for a step and checks it; whether it was the last one."""
        self._engine.wait_all(handles)
        self._steps += 1
        by_name = {handle.name: handle.values for handle in handles}
        size = self._drill.size
        for name in ("small", "large", "odd"):
            values = by_name[name]
            if values[0] != size or values[len(values) - 1] != size:
                raise AssertionError(f"{name} is {values[0]}, {values[len(values) - 1]}")
        self.all_planned = by_name["plan"][0] == size
        return bool(by_name["stop"][0] > 0)

    def step(self) -> bool:
        return self.finish(self.submit())

    def wrong_step(self) -> None:
        """The victim's mistake; if all get over it, so do we."""
        if self._drill.is_victim:
            self._drill.await_ready(but=self._drill.rank)
            self._drill.strike()
        self._drill.ready()
        handles = self.submit(wrong=self._drill.is_victim)
        if self._drill.fault == "other order":
            self.finish(handles)
            return
        try:
            self._engine.wait_all(handles)
            if self._drill.fault == "never submits" and self._drill.is_victim:
                others = [r for r in range(self._drill.size) if r != self._drill.rank]
                self._drill.await_saying(*(f"report.{rank}" for rank in others))
                self.step()
            raise AssertionError("the mistake was not noticed")
        except Exception as error:
            if self._drill.fault in ("other name", "never submits"):
                raise
            self._drill.note(error)

    def negotiation(self) -> None:
        """The others have submitted; one has not."""
        drill = self._drill
        if drill.fault in faults.IN_SUBMISSION:
            return self.wrong_step()
        if drill.strikes:
            drill.await_ready(but=drill.rank)
            time.sleep(0.1)
            drill.strike()
        handles = [] if drill.is_victim else self.submit()
        drill.ready()
        if drill.is_victim:
            drill.await_struck()
            handles = self.submit()
        self.finish(handles)

    def rounds(self, planned: bool) -> None:
        """Step after step; it goes wrong somewhere in one of them."""
        drill = self._drill
        armed = False
        for number in range(1, 1_000_000):
            if drill.strikes and drill.fault in faults.IN_SCRIPT and drill.all_ready():
                drill.await_look()
                self.submit()  # in the engine's hands when the script goes wrong
                drill.strike()
            if self.step():
                return
            time.sleep(self._pause)
            if armed or number < 12 or (planned and not self.all_planned):
                if number > _MOST_STEPS and not armed:
                    raise RuntimeError("drill: no plan was made")
                continue
            armed = True
            if drill.fault in faults.IN_SUBMISSION:
                return self.wrong_step()
            drill.ready()
            if drill.strikes and drill.fault not in faults.IN_SCRIPT:
                drill.strike_soon(drill.await_ready, random.uniform(0, 0.1))

    def idle(self) -> None:
        drill = self._drill
        drill.ready()
        if drill.strikes:
            drill.await_ready()
            time.sleep(0.1)
            drill.strike()
        drill.await_struck()
        if not drill.is_victim:
            time.sleep(0.3)
        self.step()

    def shutdown(self) -> None:
        drill = self._drill
        drill.ready()
        if drill.strikes:
            drill.await_ready()
            drill.strike()
        drill.await_struck()


def live(drill: Drill) -> None:
    if drill.moment == "launch":
        drill.ready()
        if drill.strikes:
            drill.strike()
        elif drill.from_outside:
            drill.await_struck()
    from light import Light

    engine = Light()
    if drill.moment == "init":
        drill.ready()
        if drill.is_late:
            drill.await_struck()
        elif drill.strikes:
            drill.strike_soon(drill.await_ready, 0.5)
    engine.basics.init()
    life = Life(drill, engine)
    if drill.moment not in ("launch", "init"):
        # What the launcher's SIGTERM would hide: how this rank learns of the fault.
        signal.signal(signal.SIGTERM, lambda *_: None)
        life.step()
        if drill.moment in ("collective", "planned"):
            life.rounds(drill.moment == "planned")
        else:
            getattr(life, drill.moment)()
    if drill.moment != "shutdown":
        life.step()
    engine.basics.shutdown()


def main() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    drill = Drill()
    try:
        live(drill)
    except Exception as error:
        drill.note(error)
        drill.report("raised")
        raise
    except SystemExit:
        drill.report("left")
        raise
    drill.report("ok")


if __name__ == "__main__":
    main()
