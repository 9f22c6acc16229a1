#include "horovodx/negotiation/plan_cursor.h"

namespace horovodx::negotiation {

Result<PlanCursor> PlanCursor::Make(std::vector<Bucket> buckets) {
  PlanCursor plan(std::move(buckets));
  for (std::size_t b = 0; b < plan.buckets_.size(); ++b) {
    for (const Entry& entry : plan.buckets_[b].entries) {
      if (plan.bucket_of_.try_emplace(entry.name, b).second) continue;
      return Status::Unknown("negotiation: a plan has tensor '" + entry.name + "' twice");
    }
    plan.missing_.push_back(plan.buckets_[b].entries.size());
    if (plan.missing_.back() == 0)
      return Status::Unknown("negotiation: a plan has an empty bucket");
  }
  if (plan.buckets_.empty()) return Status::Unknown("negotiation: a plan has no buckets");
  return plan;
}

void PlanCursor::Add(const std::string& name) {
  --missing_[bucket_of_.at(name)];
  MoveFront();
}

bool PlanCursor::Reachable(const std::string& name) const {
  const std::uint64_t n = buckets_.size();
  const std::uint64_t ahead = (bucket_of_.at(name) + n - cursor_ % n) % n;
  return cursor_ + ahead < front_;
}

void PlanCursor::Advance() {
  missing_[cursor_ % buckets_.size()] = bucket().entries.size();
  ++cursor_;
  MoveFront();
}

void PlanCursor::MoveFront() {
  const std::uint64_t n = buckets_.size();
  while (front_ < cursor_ + n && missing_[front_ % n] == 0) ++front_;
}

}  // namespace horovodx::negotiation
