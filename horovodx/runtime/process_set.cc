#include "horovodx/runtime/process_set.h"

#include <algorithm>
#include <utility>

namespace horovodx::runtime {

void ProcessSets::Add(int id, std::vector<int> ranks) {
  MutexLock lock(mutex_);
  order_.push_back(id);
  ranks_[id] = std::move(ranks);
}

void ProcessSets::Remove(int id) {
  MutexLock lock(mutex_);
  order_.erase(std::remove(order_.begin(), order_.end(), id), order_.end());
  ranks_.erase(id);
}

int ProcessSets::RankIn(int id, int rank) const {
  MutexLock lock(mutex_);
  const auto it = ranks_.find(id);
  if (it == ranks_.end()) return kUnknownSet;
  const auto at = std::find(it->second.begin(), it->second.end(), rank);
  return at == it->second.end() ? kForeignSet : static_cast<int>(at - it->second.begin());
}

int ProcessSets::SizeOf(int id) const {
  MutexLock lock(mutex_);
  const auto it = ranks_.find(id);
  return it == ranks_.end() ? kUnknownSet : static_cast<int>(it->second.size());
}

int ProcessSets::Includes(int id, int rank) const {
  const int found = RankIn(id, rank);
  if (found == kUnknownSet) return kUnknownSet;
  return found == kForeignSet ? 0 : 1;
}

std::vector<int> ProcessSets::ids() const {
  MutexLock lock(mutex_);
  return order_;
}

std::vector<int> ProcessSets::ranks(int id) const {
  MutexLock lock(mutex_);
  const auto it = ranks_.find(id);
  return it == ranks_.end() ? std::vector<int>{} : it->second;
}

}  // namespace horovodx::runtime
