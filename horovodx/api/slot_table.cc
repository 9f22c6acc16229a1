#include "horovodx/api/slot_table.h"

#include <string>
#include <utility>

namespace horovodx::api {

SlotTable& SlotTable::Get() {
  static auto* table = new SlotTable;  // never destroyed, as ProcessEngine
  return *table;
}

std::int64_t SlotTable::Add(runtime::Submission prototype) {
  MutexLock lock(mutex_);
  prototypes_.push_back(std::move(prototype));
  return static_cast<std::int64_t>(prototypes_.size()) - 1;
}

Status SlotTable::Copy(std::int64_t slot, runtime::Submission& to) {
  MutexLock lock(mutex_);
  if (slot < 0 || slot >= static_cast<std::int64_t>(prototypes_.size())) {
    return Status::InvalidArgument("there is no slot " + std::to_string(slot) +
                                   "; slots end with shutdown");
  }
  to = prototypes_[static_cast<std::size_t>(slot)];
  return Status::Ok();
}

void SlotTable::Clear() {
  MutexLock lock(mutex_);
  prototypes_.clear();
}

}  // namespace horovodx::api
