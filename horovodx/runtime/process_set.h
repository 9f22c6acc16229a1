// ProcessSets: which sets exist and who is in them, for anyone who asks.
#pragma once

#include <map>
#include <vector>

#include "horovodx/base/mutex.h"

namespace horovodx::runtime {

class ProcessSets {
 public:
  // Horovod's error codes.
  static constexpr int kNotInitialized = -1;
  static constexpr int kNotDynamic = -2;
  static constexpr int kUnknownSet = -3;
  static constexpr int kForeignSet = -4;
  static constexpr int kShutDown = -5;
  static constexpr int kExistingSet = -6;

  void Add(int id, std::vector<int> ranks) HVDX_EXCLUDES(mutex_);
  void Remove(int id) HVDX_EXCLUDES(mutex_);

  // Each: the answer, or kUnknownSet / kForeignSet. `rank` is global.
  int RankIn(int id, int rank) const HVDX_EXCLUDES(mutex_);
  int SizeOf(int id) const HVDX_EXCLUDES(mutex_);
  int Includes(int id, int rank) const HVDX_EXCLUDES(mutex_);
  std::vector<int> ids() const HVDX_EXCLUDES(mutex_);  // in order of registration
  // Empty for an unknown set.
  std::vector<int> ranks(int id) const HVDX_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::vector<int> order_ HVDX_GUARDED_BY(mutex_);
  std::map<int, std::vector<int>> ranks_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::runtime
