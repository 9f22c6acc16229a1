// Says who is missing when a tensor waits for too long. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"

namespace horovodx::negotiation {

// A tensor some members have asked for and others not.
struct WaitingTensor {
  std::string name;
  TimePoint since;
  std::vector<std::int32_t> missing;  // global ranks
};

struct StallReport {
  std::string text;                   // for the log: a warning, or an error if anyone is to stop
  std::string missing;                // for an error: who has not submitted what
  std::vector<std::int32_t> stalled;  // ranks missing beyond the shutdown time; empty: go on
};

class StallInspector {
 public:
  // `shutdown` zero: never. One shorter than `warning` is ignored, with a warning.
  StallInspector(Duration warning, Duration shutdown);

  // When to check next, if the oldest waiting tensor waits since then.
  TimePoint NextCheck(TimePoint oldest) const;
  // Nothing if no tensor has waited long enough. Call it when NextCheck() has come: a call long
  // after that means that we slept, and perhaps all ranks did; nobody is stopped before they had
  // their time.
  std::optional<StallReport> Check(const std::vector<WaitingTensor>& waiting, TimePoint now);

 private:
  Duration warning_;
  Duration shutdown_;
  std::optional<TimePoint> last_check_;
  TimePoint no_stop_before_ = TimePoint::min();
};

}  // namespace horovodx::negotiation
