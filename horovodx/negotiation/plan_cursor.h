// Where one member stands in a plan. Pure.
//
// The plan's buckets run round and round; positions count them over all rounds. A tensor is
// outstanding at most once, so a submission always belongs to the next time its bucket runs: in
// this round if the cursor has not passed the bucket, else in the next.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

class PlanCursor {
 public:
  // An error if the buckets cannot be a plan: none, an empty one, a name twice.
  static Result<PlanCursor> Make(std::vector<Bucket> buckets);

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const Bucket& bucket() const { return buckets_[cursor_ % buckets_.size()]; }
  std::uint64_t cursor() const { return cursor_; }

  bool Contains(const std::string& name) const { return bucket_of_.contains(name); }
  // This tensor, which is in the plan and was not there, is there now.
  void Add(const std::string& name);
  // The bucket at the cursor has all its tensors.
  bool complete() const { return front_ > cursor_; }
  std::size_t missing() const { return missing_[cursor_ % buckets_.size()]; }
  // Every bucket from the cursor up to this tensor's has all its tensors. The name is in the plan.
  bool Reachable(const std::string& name) const;
  // The bucket at the cursor, which was complete, has finished.
  void Advance();

 private:
  explicit PlanCursor(std::vector<Bucket> buckets) : buckets_(std::move(buckets)) {}
  void MoveFront();

  std::vector<Bucket> buckets_;
  std::unordered_map<std::string, std::size_t> bucket_of_;
  std::vector<std::size_t> missing_;  // tensors each bucket lacks for its next run
  std::uint64_t cursor_ = 0;
  std::uint64_t front_ = 0;  // first position from the cursor on that lacks a tensor
};

}  // namespace horovodx::negotiation
