// The first rank of a host passes messages on for the others of its host. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

// Equal messages of several ranks become one record, where that keeps every rank's own order. So a
// round of a host whose ranks do the same costs one record, however many they are. O(bytes).
std::vector<UpRecord> Combine(const std::vector<UpRecord>& records);

// What goes which way: the records for each next hop, in order, with only the ranks behind it.
// `hop_of[rank]` is the rank to hand a message to; records for ranks outside it are dropped.
std::map<std::int32_t, std::vector<DownRecord>> Split(const std::vector<DownRecord>& records,
                                                      const std::vector<std::int32_t>& hop_of);

}  // namespace horovodx::negotiation
