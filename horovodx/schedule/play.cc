#include "horovodx/schedule/play.h"

#include <algorithm>

namespace horovodx::schedule {

std::vector<Played> Play(const std::vector<Tensor>& tensors, const Buckets& buckets,
                         const CostModel& cost) {
  std::vector<Played> all;
  double free_at = 0.0;
  for (const std::vector<int>& bucket : buckets) {
    Played p;
    for (const int t : bucket) {
      p.bytes += tensors[t].bytes;
      if (p.last < 0 || tensors[t].ready > p.ready) {
        p.last = t;
        p.ready = tensors[t].ready;
      }
    }
    p.start = std::max(free_at, p.ready);
    p.end = free_at = p.start + cost.Seconds(p.bytes);
    all.push_back(p);
  }
  return all;
}

double EndOf(const std::vector<Played>& played) { return played.empty() ? 0.0 : played.back().end; }

}  // namespace horovodx::schedule
