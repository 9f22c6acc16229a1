"""Timelines as the engine records them."""

import json


class Recording:
    """Writes events as the engine does; milliseconds."""

    def __init__(self):
        self.events = [
            {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time": 1}},
        ]
        self.pids = {}

    def _add(self, phase, tensor, at, **more):
        if tensor not in self.pids:
            self.pids[tensor] = pid = len(self.pids) + 1
            args = {"name": tensor}
            self.events.append({"name": "process_name", "ph": "M", "pid": pid, "args": args})
        event = {"ph": phase, "ts": 1000 * at, "pid": self.pids[tensor]}
        self.events.append(event | more)

    def negotiated(self, tensor, start, end):
        self._add("B", tensor, start, name="NEGOTIATE_ALLREDUCE")
        self._add("X", tensor, end, name="0", dur=0)
        self._add("E", tensor, end)

    def submitted(self, tensor, at):
        self._add("X", tensor, at, name="SUBMITTED", dur=0)

    def bucket(self, tensors, start, end, elements=1000, number=None):
        args = {} if number is None else {"args": {"bucket": number}}
        for tensor in tensors:
            self._add("B", tensor, start, name="ALLREDUCE", **args)
            self._add("B", tensor, start, name="GLOO_ALLREDUCE")
        for tensor in tensors:
            self._add("E", tensor, end)
            self._add("E", tensor, end, args={"dtype": "float32", "shape": f"[{elements}]"})

    def write(self, path):
        path.write_text(json.dumps(self.events))
        return path


def planned_steps(count):
    """Each step: fc at 0, conv2 at 2, conv1 at 12; the line carries fc 0 to 5, conv2 5 to 8, then
    waits for conv1, which takes 12 to 20."""
    recording = Recording()
    for step in range(count):
        zero = 100 * step
        for tensor, at in (("fc", 0), ("conv2", 2)):
            recording.submitted(tensor, zero + at)
        recording.bucket(["fc"], zero, zero + 5, 2000, number=3 * step)
        recording.bucket(["conv2"], zero + 5, zero + 8, 1000, number=3 * step + 1)
        recording.submitted("conv1", zero + 12)
        recording.bucket(["conv1"], zero + 12, zero + 20, 4000, number=3 * step + 2)
    return recording
