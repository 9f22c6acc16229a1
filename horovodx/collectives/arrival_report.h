// Reports what has arrived of a message, in stretches of whole units.
#pragma once

#include <algorithm>
#include <cstddef>

#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

class ArrivalReport {
 public:
  // `on_arrival` is borrowed and may be empty.
  ArrivalReport(const OnArrival& on_arrival, std::size_t unit)
      : on_arrival_(on_arrival), unit_(std::max<std::size_t>(unit, 1)) {}

  void Update(std::size_t arrived, bool complete) {
    if (on_arrival_ == nullptr) return;
    const std::size_t end = complete ? arrived : arrived - arrived % unit_;
    if (end == reported_ || (!complete && end - reported_ < kLeast)) return;
    on_arrival_(reported_, end);
    reported_ = end;
  }

 private:
  // So that a reduction is worth its call.
  static constexpr std::size_t kLeast = 64 << 10;

  const OnArrival& on_arrival_;
  std::size_t unit_;
  std::size_t reported_ = 0;
};

}  // namespace horovodx::collectives
