#include "horovodx/transport/stage.h"

namespace horovodx::transport {

void Stage::Publish(Mark mark) {
  marks_[rank_]->store(mark, std::memory_order_release);  // partner: the acquire in of()
  for (int member = 0; member < size_; ++member) {
    if (member != rank_) Bell(bells_[member]).Ring();
  }
}

}  // namespace horovodx::transport
