#include "horovodx/api/process_engine.h"

#include <utility>

#include "horovodx/runtime/bootstrap.h"

namespace horovodx::api {
namespace {

void LeaveMpi() {
  if (auto* library = mpi::Library::Loaded(); library != nullptr) library->LeaveUnfinished(true);
}

}  // namespace

ProcessEngine& ProcessEngine::Get() {
  // Never destroyed: threads of the host program may still call in while the process exits.
  static auto* process_engine = new ProcessEngine;
  return *process_engine;
}

Status ProcessEngine::Init(std::vector<std::vector<int>> process_sets,
                           const runtime::Invitation& invitation) {
  MutexLock one_at_a_time(init_mutex_);
  if (engine() != nullptr) return Status::Ok();
  auto started = runtime::StartFromEnvironment(generation_++, std::move(process_sets), invitation);
  if (!started.ok()) {
    LeaveMpi();  // its end would wait for ranks that have not come
    return started.status();
  }
  MutexLock lock(mutex_);
  engine_ = std::move(started).value();
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
  if (going->failed()) LeaveMpi();
  MutexLock lock(mutex_);
  engine_ = nullptr;
}

std::shared_ptr<runtime::Engine> ProcessEngine::engine() {
  MutexLock lock(mutex_);
  return engine_;
}

}  // namespace horovodx::api
