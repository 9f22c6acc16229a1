"""Reads what the engine recorded (HOROVOD_TIMELINE) into steps of buckets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from horovodx.sim.units import BadInput
from horovodx.sim.workload import load_json

KINDS = ("ALLREDUCE", "ADASUM", "REDUCESCATTER", "ALLGATHER", "ALLTOALL", "BROADCAST")
_SIZES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4}
_SIZES |= {"float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1}


@dataclass
class Operation:
    """One tensor, once; seconds since the timeline began."""

    tensor: str
    kind: str
    ready: float  # submitted here, or first seen by the coordinator; else when it started
    started: float
    ended: float = math.nan
    bytes: int = 0
    bucket: Any = None  # as the engine numbers them; None: it did not say
    algorithm: str = ""  # empty: it did not say
    predicted: tuple[float, float] | None = None  # by the schedule: start and end


@dataclass
class Group:
    """A bucket: operations that ran as one."""

    operations: list[Operation]

    @property
    def bytes(self) -> int:
        return sum(op.bytes for op in self.operations)

    @property
    def started(self) -> float:
        return min(op.started for op in self.operations)

    @property
    def ended(self) -> float:
        return max(op.ended for op in self.operations)

    @property
    def algorithm(self) -> str:
        return self.operations[0].algorithm

    @property
    def predicted(self) -> tuple[float, float] | None:
        return self.operations[0].predicted

    @property
    def last(self) -> Operation:
        """The one that was ready last."""
        return max(self.operations, key=lambda op: op.ready)


@dataclass
class Recorded:
    """Buckets from the first time a tensor appears to just before one appears again."""

    groups: list[Group] = field(default_factory=list)

    @property
    def tensors(self) -> list[str]:
        return [op.tensor for group in self.groups for op in group.operations]

    @property
    def first_ready(self) -> float:
        return min(op.ready for group in self.groups for op in group.operations)

    @property
    def last_ready(self) -> float:
        return max(group.last.ready for group in self.groups)

    @property
    def ended(self) -> float:
        return max(group.ended for group in self.groups)


def _args(event: dict[str, Any]) -> dict[str, Any]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _predicted(args: dict[str, Any]) -> tuple[float, float] | None:
    start, end = args.get("predicted_start"), args.get("predicted_end")
    if not isinstance(start, int | float) or not isinstance(end, int | float):
        return None
    return start / 1e6, end / 1e6


def _bytes(args: dict[str, Any]) -> int:
    """From the dtype and shape at the end of an operation; 0 if they are not there."""
    try:
        shape = [int(n) for n in str(args["shape"]).strip("[] ").split(",") if n.strip()]
        return math.prod(shape) * _SIZES[args["dtype"]]
    except (KeyError, TypeError, ValueError):
        return 0


class _Reader:
    """Follows the events in the order of the file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.names: dict[int, str] = {}
        self.ready: dict[int, float] = {}
        self.open: dict[int, list[str]] = {}
        self.running: dict[int, Operation] = {}
        self.groups: list[Group] = []
        self._ended_since_start = True

    def take(self, number: int, event: Any) -> None:
        where = f"{self.path}: event {number}"
        if not isinstance(event, dict):
            raise BadInput(f"{where}: {event!r} is not an object")
        phase, pid = event.get("ph"), event.get("pid", 0)
        if not isinstance(pid, int):
            raise BadInput(f"{where}: pid: {pid!r} is not a whole number")
        if phase == "M":
            name = _args(event).get("name")
            if event.get("name") == "process_name" and isinstance(name, str):
                self.names[pid] = name
        elif isinstance(phase, str) and phase in ("B", "E", "X") and pid in self.names:
            when = event.get("ts")
            if isinstance(when, bool) or not isinstance(when, int | float) or not abs(when) < 1e18:
                raise BadInput(f"{where}: ts: {when!r} is not a time")
            {"B": self._begin, "E": self._end, "X": self._tick}[phase](event, when / 1e6)

    def _tick(self, event: dict[str, Any], now: float) -> None:
        # Ticks of ranks are inside the negotiation, whose start counts.
        if event.get("name") == "SUBMITTED":
            self.ready[event["pid"]] = now

    def _begin(self, event: dict[str, Any], now: float) -> None:
        pid, label = event["pid"], str(event.get("name"))
        self.open.setdefault(pid, []).append(label)
        if label.startswith("NEGOTIATE_"):
            self.ready.setdefault(pid, now)
        elif label in KINDS:
            args = _args(event)
            number = (args.get("set"), args["bucket"]) if "bucket" in args else None
            ready = min(self.ready.pop(pid, now), now)
            operation = Operation(self.names[pid], label, ready, now, bucket=number)
            operation.algorithm = str(args.get("algorithm", ""))
            operation.predicted = _predicted(args)
            self.running[pid] = operation
            self._group(operation)

    def _group(self, operation: Operation) -> None:
        last = self.groups[-1].operations[-1] if self.groups else None
        if last is not None and operation.bucket is not None:
            same = last.bucket == operation.bucket
        else:
            # One bucket at a time: what starts before anything has ended is one.
            same = last is not None and not self._ended_since_start and last.kind == operation.kind
        if same:
            self.groups[-1].operations.append(operation)
        else:
            self.groups.append(Group([operation]))
        self._ended_since_start = False

    def _end(self, event: dict[str, Any], now: float) -> None:
        pid = event["pid"]
        stack = self.open.get(pid)
        if not stack:
            return
        if stack.pop() not in KINDS:
            return
        self._ended_since_start = True
        operation = self.running.pop(pid, None)
        args = _args(event)
        if operation is None or "dropped" in args:
            return  # its plan ended before it: it runs again
        operation.ended = now
        operation.bytes = _bytes(args)


def _steps(groups: list[Group]) -> list[Recorded]:
    steps = [Recorded()]
    seen: set[str] = set()
    for group in groups:
        if any(math.isnan(op.ended) for op in group.operations):
            continue  # cut off by the end of the recording
        names = {op.tensor for op in group.operations}
        if names & seen:
            steps.append(Recorded())
            seen = set()
        seen |= names
        steps[-1].groups.append(group)
    return [step for step in steps if step.groups]


def is_timeline(data: Any) -> bool:
    """It has the shape of one: a list of events, or an object with one."""
    return isinstance(data, list) or (isinstance(data, dict) and "traceEvents" in data)


def read_timeline(path: str) -> list[Recorded]:
    """The steps of a recorded timeline; an error if it has none."""
    return steps_of(load_json(path), path)


def steps_of(events: Any, path: str) -> list[Recorded]:
    """The same of what was read from that file."""
    if isinstance(events, dict):
        events = events.get("traceEvents")
    if not isinstance(events, list):
        raise BadInput(f"{path}: not a timeline: it is no list of events")
    reader = _Reader(path)
    for number, event in enumerate(events):
        reader.take(number, event)
    steps = _steps(reader.groups)
    if not steps:
        raise BadInput(f"{path}: no finished operation in {len(events)} events")
    return steps


def usual_step(steps: list[Recorded]) -> int:
    """The number of a step like most: among those with the most frequent tensors, the one of median
    length; later halves only, since first steps differ."""
    kinds: dict[frozenset[str], list[int]] = {}
    for number, step in enumerate(steps):
        kinds.setdefault(frozenset(step.tensors), []).append(number)
    often = max(kinds.values(), key=len)
    late = often[len(often) // 2 :]
    late.sort(key=lambda number: steps[number].ended - steps[number].first_ready)
    return late[(len(late) - 1) // 2]
