// Drives a staged operation on a test's rank thread.
#pragma once

#include <string>

#include "horovodx/base/bell.h"
#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/allreduce_staged.h"

namespace horovodx::collectives {

// Blocks until the operation is done; an error after 30 s without being able to go on.
inline Status Finish(StagedAllreduce& operation, Bell bell) {
  using Progress = StagedAllreduce::Progress;
  Bell::Listener listener(bell);
  Deadline deadline = Deadline::After(Seconds(30));
  for (;;) {
    const Progress progress = operation.Advance();
    if (progress == Progress::kDone) return Status::Ok();
    if (progress == Progress::kMoved) {
      deadline = Deadline::After(Seconds(30));
    } else if (!listener.Sleep(deadline)) {
      return Status::Unknown("waits for member " + std::to_string(operation.waiting_for()));
    }
  }
}

inline Status RunStaged(StagePipe& pipe, Bell bell, const StagedTensors& tensors) {
  StagedAllreduce operation(pipe, tensors);
  return Finish(operation, bell);
}

}  // namespace horovodx::collectives
