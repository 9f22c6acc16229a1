// What a collective takes when others run right before and after it. Pure.
//
// Measured one at a time, small collectives look too cheap: queues, buffers and token buckets on
// the way take in a burst at once and let it out at the line's pace. In a row they pay that pace. A
// cut that believes in cheap bytes makes many small buckets, and each pays the latency after all.
//
// So: a collective cut in two is never faster than whole. Of all costs that say so and are nowhere
// below the measured one, the concave hull is the least.
#pragma once

#include "horovodx/schedule/cost_model.h"

namespace horovodx::schedule {

// `smallest` is the least size that was measured: what the first piece says below it is a guess,
// and no bytes at all are not taken to be cheaper than that size without its bytes at the line's
// pace, nor than a quarter of it up to a millisecond: through large sizes goes many a line that
// says that latency is nothing. A function is returned as it is. O(pieces).
CostModel InARow(const CostModel& cost, std::uint64_t smallest);

}  // namespace horovodx::schedule
