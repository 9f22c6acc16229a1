#include "horovodx/negotiation/relay.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "horovodx/negotiation/wire.h"

namespace horovodx::negotiation {
namespace {

// The message's bytes tell equal from different, also where numbers are not equal to themselves.
std::string KeyOf(const UpMessage& message) {
  std::vector<UpRecord> one;
  Append(one, {}, message);
  const std::vector<std::byte> bytes = Encode(one);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<UpRecord> Combine(const std::vector<UpRecord>& records) {
  std::vector<UpRecord> combined;
  std::unordered_map<std::string, std::vector<std::size_t>> places;  // of equal messages, ascending
  std::unordered_map<std::int32_t, std::size_t> next;  // where a rank's next message may stand
  for (const UpRecord& record : records) {
    auto& equal = places[KeyOf(record.message)];
    for (std::int32_t rank : record.from) {
      std::size_t& earliest = next[rank];
      const auto it = std::lower_bound(equal.begin(), equal.end(), earliest);
      const std::size_t place = it != equal.end() ? *it : combined.size();
      if (it == equal.end()) {
        equal.push_back(place);
        Append(combined, {}, record.message);
      }
      combined[place].from.push_back(rank);
      earliest = place + 1;
    }
  }
  return combined;
}

std::map<std::int32_t, std::vector<DownRecord>> Split(const std::vector<DownRecord>& records,
                                                      const std::vector<std::int32_t>& hop_of) {
  std::map<std::int32_t, std::vector<DownRecord>> ways;
  for (const DownRecord& record : records) {
    std::map<std::int32_t, std::vector<std::int32_t>> behind;
    for (std::int32_t rank : record.to) {
      const bool known = rank >= 0 && static_cast<std::size_t>(rank) < hop_of.size();
      if (known) behind[hop_of[rank]].push_back(rank);
    }
    for (auto& [hop, ranks] : behind) Append(ways[hop], std::move(ranks), record.message);
  }
  return ways;
}

}  // namespace horovodx::negotiation
