// The process's engine: the one global of the library, since hvd.init() returns nothing.
#pragma once

#include <memory>
#include <vector>

#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"
#include "horovodx/runtime/engine.h"
#include "horovodx/runtime/mpi_job.h"

namespace horovodx::api {

class ProcessEngine {
 public:
  static ProcessEngine& Get();

  // Starts the engine from the environment; does nothing if it is there already.
  Status Init(std::vector<std::vector<int>> process_sets,
              const runtime::Invitation& invitation = {}) HVDX_EXCLUDES(mutex_, init_mutex_);
  // Stops it, if it is there. Init may be called again.
  void Shutdown() HVDX_EXCLUDES(mutex_, init_mutex_);
  // Null before Init and after Shutdown. Shared with the calls under way: it goes with the last.
  std::shared_ptr<runtime::Engine> engine() HVDX_EXCLUDES(mutex_);

 private:
  Mutex init_mutex_;  // one Init or Shutdown at a time; they take long
  int generation_ HVDX_GUARDED_BY(init_mutex_) = 0;
  Mutex mutex_;
  std::shared_ptr<runtime::Engine> engine_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::api
