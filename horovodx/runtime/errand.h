// Errand: a small collective over links that whoever drives the engine runs beside the driving.
//
// Handing it to a lane and back costs two wake-ups, which is more than the collective itself takes
// once all have come to it. So it begins on a fiber in the driver's thread and gives way where it
// would wait; the driver turns the engine and runs it on. Before the driver goes to sleep, what has
// not ended moves to the lane and goes on from where it is; there it may sleep.
//
// Thread: whoever drives. Complete: the lane; the driver's hands are off until it has returned.
#pragma once

#include <functional>

#include "horovodx/base/clock.h"
#include "horovodx/base/fiber.h"
#include "horovodx/base/status.h"
#include "horovodx/transport/mesh.h"

namespace horovodx::runtime {

class Errand : private transport::GiveWay {
 public:
  Errand() = default;
  ~Errand() override;  // nothing may be under way

  // Begins `job`, which waits by `mesh` alone. False if it cannot; then nothing has happened.
  bool Start(transport::Mesh& mesh, std::function<Status()> job);
  // Begun, and its end has not been reported.
  bool active() const { return mesh_ != nullptr; }
  // It has something to do. Once it has, it is not asked again before the next step.
  bool ready() { return known_ready_ = known_ready_ || awaited_ == nullptr || awaited_->Ready(); }
  // Sleeps until it has, at most so long. May come back earlier.
  void Nap(Duration most) {
    if (awaited_ != nullptr && !known_ready_) awaited_->Nap(most);
  }
  // Runs it on until it would wait. True if it has ended: then `status` is its result.
  bool Step(Status& status);
  // Runs it to its end; it sleeps where it waits.
  Status Complete();

 private:
  void Pause(transport::Awaited& awaited) override;
  Status End();

  Fiber fiber_;
  transport::Mesh* mesh_ = nullptr;
  transport::Awaited* awaited_ = nullptr;  // while it waits: what for
  bool known_ready_ = false;
  Status result_;
};

}  // namespace horovodx::runtime
