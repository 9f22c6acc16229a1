#include "horovodx/api/handle_table.h"

#include <utility>

namespace horovodx::api {

HandleTable& HandleTable::Get() {
  static auto* table = new HandleTable;  // never destroyed, as ProcessEngine
  return *table;
}

std::int64_t HandleTable::Add(runtime::OperationPtr operation) {
  MutexLock lock(mutex_);
  operations_.emplace(next_, std::move(operation));
  return next_++;
}

runtime::OperationPtr HandleTable::Find(std::int64_t handle) {
  MutexLock lock(mutex_);
  const auto it = operations_.find(handle);
  return it == operations_.end() ? nullptr : it->second;
}

void HandleTable::Release(std::int64_t handle) {
  MutexLock lock(mutex_);
  operations_.erase(handle);
}

}  // namespace horovodx::api
