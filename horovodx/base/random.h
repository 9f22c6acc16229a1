// Random bytes that nobody can guess, from the kernel.
#pragma once

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"

namespace horovodx {

// Any thread. Fails only where the kernel refuses (a sandbox without getrandom).
Status FillRandom(MutableBytes bytes);

}  // namespace horovodx
