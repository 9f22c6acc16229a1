#include "horovodx/runtime/errand.h"

#include <utility>

#include "horovodx/base/check.h"

namespace horovodx::runtime {

Errand::~Errand() { HVDX_CHECK(!active()); }

bool Errand::Start(transport::Mesh& mesh, std::function<Status()> job) {
  HVDX_CHECK(!active());
  if (!fiber_.usable()) return false;
  mesh_ = &mesh;
  mesh_->SetGiveWay(this);
  known_ready_ = false;
  fiber_.Start([this, job = std::move(job)] { result_ = job(); });
  return true;
}

bool Errand::Step(Status& status) {
  known_ready_ = false;
  if (fiber_.active()) fiber_.Resume();
  if (fiber_.active()) return false;
  status = End();
  return true;
}

Status Errand::Complete() {
  mesh_->SetGiveWay(nullptr);
  if (fiber_.active()) fiber_.Resume();
  return End();
}

void Errand::Pause(transport::Awaited& awaited) {
  awaited_ = &awaited;
  fiber_.Pause();
  awaited_ = nullptr;
}

Status Errand::End() {
  mesh_->SetGiveWay(nullptr);
  mesh_ = nullptr;
  return std::exchange(result_, Status::Ok());
}

}  // namespace horovodx::runtime
