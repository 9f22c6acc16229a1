// What is tuned. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace horovodx::tuning {

// One combination of settings. None of them changes what is computed, only what travels together
// and by which way.
struct Setting {
  std::string schedule = "fusion";  // one of schedule::RuleNames()
  bool hierarchical_allreduce = false;
  bool torus_allreduce = false;
  double cycle_time_ms = 0.0;                   // the batching window; 0: none. Never tuned
  std::uint64_t fusion_threshold = 128u << 20;  // bytes
  // Over links alone:
  std::uint32_t segment = 0;  // bytes of a message (collectives/segment.h); 0: the algorithm's own
  int streams = 0;            // sockets of a link in use; 0: all there are

  bool operator==(const Setting&) const = default;
};

// What may be tuned; the rest stays as it is in the first setting. Whoever has set a variable has
// fixed it.
struct Freedom {
  std::vector<std::string> schedules;  // to choose from; empty: fixed
  bool hierarchical_allreduce = false;
  bool torus_allreduce = false;
  bool fusion_threshold = false;
  bool segment = false;
  int most_streams = 1;  // sockets that links have; 1: nothing to choose from

  bool any() const {
    return schedules.size() > 1 || hierarchical_allreduce || torus_allreduce || fusion_threshold ||
           segment || most_streams > 1;
  }
};

}  // namespace horovodx::tuning
