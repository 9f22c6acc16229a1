"""Names for collectives in compiled code that the user has not named.

Ranks find each other's collectives by name, so a name must come out the same on every rank. A
counter of all collectives, as eager code has it, does not: one rank may compile once more than the
others (its last batch is smaller, say), and a compiled graph runs without asking anybody for a
number. So the name is where the call stands in the user's source, and the how-manieth call from
there it is in this trace: `compiled.train.py:42.0`. It is fixed when the graph is made.

- A rank that compiles again gets the same names for the same lines.
- The same graph run twice uses its names twice, one after the other, which is what names are for;
  so do two graphs from the same lines.
- A name that is still under way when it comes again waits for itself
  (integrations/torch/in_flight.h): two calls that happen to share a name are slower, not wrong.
- A rank that runs the same lines without compiling has other names, and the two wait for each other
  in vain. Where some ranks may fall back to eager code, name the tensors.
"""

import collections
import os
import traceback
import weakref

import torch
from torch._guards import TracingContext

import horovodx

# Frames of ours are not the user's line: horovodx, and horovod beside it.
_OURS = tuple(
    os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(horovodx.__file__))), package, "")
    for package in ("horovod", "horovodx")
)
_counts: "weakref.WeakKeyDictionary[TracingContext, collections.Counter[str]]" = (
    weakref.WeakKeyDictionary()
)


def _users_line(stack: traceback.StackSummary) -> str:
    for frame in reversed(stack):
        if not os.path.abspath(frame.filename).startswith(_OURS):
            return f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return "unknown"


@torch.compiler.assume_constant_result
def name_of_call(kind: str) -> str:
    """A name for the collective that is being traced: found at compile time, then fixed."""
    trace = TracingContext.try_get()
    if trace is None:
        return "noname"  # nothing is being compiled: one name, used over and over
    line = _users_line(TracingContext.extract_stack())
    counts = _counts.setdefault(trace, collections.Counter())
    place = f"{kind} {line}"
    counts[place] += 1
    return f"compiled.{line}.{counts[place] - 1}"
