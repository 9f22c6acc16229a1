// Handles: numbers that outsiders hold for operations.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "horovodx/base/mutex.h"
#include "horovodx/runtime/operation.h"

namespace horovodx::api {

class HandleTable {
 public:
  static HandleTable& Get();

  // A number > 0, never used before in this process.
  std::int64_t Add(runtime::OperationPtr operation) HVDX_EXCLUDES(mutex_);
  // Null for a number that is not in use.
  runtime::OperationPtr Find(std::int64_t handle) HVDX_EXCLUDES(mutex_);
  void Release(std::int64_t handle) HVDX_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::int64_t next_ HVDX_GUARDED_BY(mutex_) = 1;
  std::unordered_map<std::int64_t, runtime::OperationPtr> operations_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::api
