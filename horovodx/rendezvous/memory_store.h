// A store inside one process: for single-process jobs, and for ranks that are threads.
#pragma once

#include <map>
#include <string>

#include "horovodx/base/mutex.h"
#include "horovodx/rendezvous/store.h"

namespace horovodx::rendezvous {

class MemoryStore : public Store {
 public:
  Status Set(const std::string& key, const std::string& value) override HVDX_EXCLUDES(mutex_);
  Result<std::string> Get(const std::string& key, const Deadline& deadline) override
      HVDX_EXCLUDES(mutex_);
  Status Forget(const std::string& prefix) override HVDX_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::string> values_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::rendezvous
