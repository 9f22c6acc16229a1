#include "horovodx/api/process_engine.h"

#include <utility>

#include "horovodx/runtime/bootstrap.h"

namespace horovodx::api {

ProcessEngine& ProcessEngine::Get() {
  // Never destroyed: threads of the host program may still call in while the process exits.
  static auto* process_engine = new ProcessEngine;
  return *process_engine;
}

Status ProcessEngine::Init(std::vector<std::vector<int>> process_sets,
                           const runtime::Invitation& invitation) {
  MutexLock one_at_a_time(init_mutex_);
  if (engine() != nullptr) return Status::Ok();
  HVDX_ASSIGN_OR_RETURN(auto started, runtime::StartFromEnvironment(
                                          generation_++, std::move(process_sets), invitation));
  MutexLock lock(mutex_);
  engine_ = std::move(started);
  return Status::Ok();
}

void ProcessEngine::Shutdown() {
  MutexLock one_at_a_time(init_mutex_);
  std::shared_ptr<runtime::Engine> going;
  {
    MutexLock lock(mutex_);
    going = engine_;
  }
  if (going == nullptr) return;
  going->Shutdown();  // calls made meanwhile are told that it has been shut down
  if (mpi::Library* library = mpi::Library::Loaded(); library != nullptr && going->failed()) {
    library->LeaveUnfinished(true);
  }
  MutexLock lock(mutex_);
  engine_ = nullptr;
}

std::shared_ptr<runtime::Engine> ProcessEngine::engine() {
  MutexLock lock(mutex_);
  return engine_;
}

}  // namespace horovodx::api
