#include "integrations/tensorflow/in_flight.h"

#include <atomic>

#include "integrations/tensorflow/looking_inside.h"

namespace hvdx_tf {
namespace {

std::atomic<int> now{0};
std::atomic<int> most{0};

}  // namespace

void InFlight::Enter() {
  const int n = ++now;
  int seen = most;
  while (n > seen && !most.compare_exchange_weak(seen, n)) {
  }
}

void InFlight::Leave() { --now; }

}  // namespace hvdx_tf

extern "C" {
int hvdx_tf_in_flight() { return hvdx_tf::now; }
int hvdx_tf_most_in_flight() { return hvdx_tf::most.exchange(0); }
}
