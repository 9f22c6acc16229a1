// Waiting without the GIL, with an ear for Ctrl-C.
#pragma once

#include <cstdint>

#include "horovodx/api/c_api.h"

namespace hvdx_python {

// Returns when the operation has ended well; raises its error, or KeyboardInterrupt. The handle
// stays.
void WaitAndHearSignals(std::int64_t handle);
// Submits, and waits likewise.
void RunAndHearSignals(const hvdx_submission& submission);

}  // namespace hvdx_python
