// Slots: tensors registered once and submitted by number.
#pragma once

#include <cstdint>
#include <vector>

#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"
#include "horovodx/runtime/operation.h"

namespace horovodx::api {

class SlotTable {
 public:
  static SlotTable& Get();

  std::int64_t Add(runtime::Submission prototype) HVDX_EXCLUDES(mutex_);
  // Copies what was registered into `to`.
  Status Copy(std::int64_t slot, runtime::Submission& to) HVDX_EXCLUDES(mutex_);
  void Clear() HVDX_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::vector<runtime::Submission> prototypes_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::api
