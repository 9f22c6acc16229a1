// Control: this rank's place in the control tree.
//
// Messages of this rank's members go up, to the first rank of the host and from there to rank 0,
// where the coordinator sits; its answers come down the same way. The first rank of a host passes
// on what its host's ranks say, equal messages once.
//
// Thread: whoever drives the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/negotiation/coordinator.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/transport/fabric.h"

namespace horovodx::runtime {

class Control {
 public:
  // Rank 0 gets the coordinator.
  Control(transport::Fabric& fabric, negotiation::CoordinatorOptions options);

  void SendUp(negotiation::UpMessage message);
  // Takes in what has arrived, lets the coordinator work, sends what is to be sent, and appends
  // what is for this rank. True if anything moved. An error: a neighbour is gone or talks nonsense.
  Result<bool> Turn(TimePoint now, std::vector<negotiation::DownMessage>& for_me);
  // A bucket has run on this rank; only rank 0's count.
  void OnMeasured(const negotiation::Measured& bucket);
  // The coordinator's, on rank 0; null elsewhere.
  const negotiation::PlanMeter* meter(std::int32_t set) const {
    return coordinator_ ? coordinator_->meter(set) : nullptr;
  }
  const negotiation::AlgorithmChoice* choice(std::int32_t set) const {
    return coordinator_ ? coordinator_->choice(set) : nullptr;
  }
  std::vector<tuning::Tried> TakeScores() {
    return coordinator_ ? coordinator_->TakeScores() : std::vector<tuning::Tried>();
  }
  bool HasMail() const { return fabric_.courier().HasMail(); }
  bool has_unsent() const { return !up_.empty(); }
  // Call Turn at or after this time, also if nothing has arrived.
  TimePoint next_time() const { return next_time_; }

  // Whether this rank's messages to the coordinator go through `neighbour`.
  bool LeadsUp(int neighbour) const { return !is_root() && parent() == neighbour; }
  // Tells everyone that can be reached that this rank cannot go on, `culprit` being the reason.
  void SpreadFailure(int culprit, const std::string& why);

  std::uint64_t sent() const { return sent_; }
  std::uint64_t received() const { return received_; }

 private:
  bool is_root() const { return fabric_.rank() == 0; }
  bool is_leader() const { return hosts_.leader_of(fabric_.rank()) == fabric_.rank(); }
  int parent() const { return is_leader() ? 0 : hosts_.leader_of(fabric_.rank()); }
  bool Below(int neighbour, int rank) const;  // `rank`'s messages come through `neighbour`
  int NextHop(int rank) const;                // towards `rank`, downwards

  Status OnDelivery(const transport::Delivery& delivery, TimePoint now,
                    std::vector<negotiation::DownMessage>& for_me);
  Status OnUp(int from, const std::vector<std::byte>& bytes);
  Status OnDown(const std::vector<std::byte>& bytes, std::vector<negotiation::DownMessage>& for_me);
  void PassDown(const std::vector<negotiation::DownRecord>& records,
                std::vector<negotiation::DownMessage>& for_me);
  void Post(int to, std::vector<std::byte> bytes);

  transport::Fabric& fabric_;
  const topology::HostMap& hosts_;
  std::optional<negotiation::Coordinator> coordinator_;
  std::vector<std::int32_t> hop_of_;  // [rank]: whom to hand a message for it to, downwards
  std::vector<negotiation::UpRecord> up_;
  TimePoint next_time_ = TimePoint::max();  // of the coordinator
  bool measured_ = false;                   // it may have something to say
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace horovodx::runtime
