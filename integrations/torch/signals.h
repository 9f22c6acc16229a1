// Ctrl-C while an operation is waited for.
#pragma once

namespace hvdx_torch {

// Lets Python run the handlers of signals that have come in. Throws if one of them raised: the
// caller stops waiting, and Python raises KeyboardInterrupt as soon as it is back. Takes the GIL
// for a moment; does nothing on other threads than Python's main one, or without Python.
void HearSignals();

}  // namespace hvdx_torch
