#include "horovodx/runtime/control.h"

#include <string>
#include <utility>

#include "horovodx/negotiation/relay.h"
#include "horovodx/negotiation/wire.h"

namespace horovodx::runtime {
namespace {

using negotiation::DownMessage;
using negotiation::DownRecord;
using negotiation::UpRecord;

}  // namespace

Control::Control(transport::Fabric& fabric, negotiation::CoordinatorOptions options)
    : fabric_(fabric), hosts_(fabric.hosts()) {
  for (int rank = 0; rank < hosts_.size(); ++rank) hop_of_.push_back(NextHop(rank));
  if (is_root()) coordinator_.emplace(std::move(options));
}

void Control::SendUp(negotiation::UpMessage message) {
  up_.push_back({{fabric_.rank()}, std::move(message)});
}

bool Control::Below(int neighbour, int rank) const {
  if (rank == neighbour) return true;
  return is_root() && hosts_.leader_of(rank) == neighbour;
}

int Control::NextHop(int rank) const {
  const bool same_host = hosts_.host_of(rank) == hosts_.host_of(fabric_.rank());
  return same_host ? rank : hosts_.leader_of(rank);
}

void Control::Post(int to, std::vector<std::byte> bytes) {
  ++sent_;
  fabric_.courier().Send(to, std::move(bytes));
}

void Control::OnMeasured(const negotiation::Measured& bucket) {
  if (!coordinator_) return;
  coordinator_->OnMeasured(bucket);
  measured_ = true;
}

Result<bool> Control::Turn(TimePoint now, std::vector<DownMessage>& for_me) {
  // Called at every turn of the engine, mostly with nothing to do.
  if (up_.empty() && now < next_time_ && !HasMail() && !measured_) return false;
  measured_ = false;
  bool moved = false;
  if (HasMail()) {
    for (const auto& delivery : fabric_.courier().Receive()) {
      HVDX_RETURN_IF_ERROR(OnDelivery(delivery, now, for_me));
      moved = true;
    }
  }
  if (!up_.empty()) {
    moved = true;
    std::vector<UpRecord> up = negotiation::Combine(std::exchange(up_, {}));
    if (!is_root()) {
      Post(parent(), negotiation::Encode(up));
    } else {
      for (const auto& record : up) {
        for (int from : record.from) coordinator_->OnMessage(from, record.message, now);
      }
    }
  }
  if (coordinator_) {
    if (now >= coordinator_->next_time()) coordinator_->OnTime(now);
    auto out = coordinator_->TakeMessages();
    if (!out.empty()) {
      moved = true;
      PassDown(out, for_me);
    }
    next_time_ = coordinator_->next_time();
  }
  return moved;
}

Status Control::OnDelivery(const transport::Delivery& delivery, TimePoint,
                           std::vector<DownMessage>& for_me) {
  if (!delivery.lost.ok()) {
    for_me.push_back(negotiation::Failed{delivery.from, delivery.lost.message()});
    return Status::Ok();
  }
  ++received_;
  const bool from_above = !is_root() && delivery.from == parent();
  Status status =
      from_above ? OnDown(delivery.message, for_me) : OnUp(delivery.from, delivery.message);
  if (status.ok()) return status;
  return Status::Unknown("rank " + std::to_string(delivery.from) +
                         " sent a control message that makes no sense: " + status.message());
}

Status Control::OnUp(int from, const std::vector<std::byte>& bytes) {
  HVDX_ASSIGN_OR_RETURN(auto records, negotiation::DecodeUp(bytes));
  for (auto& record : records) {
    for (int rank : record.from) {
      if (rank < 0 || rank >= hosts_.size() || !Below(from, rank)) {
        return Status::Unknown("it speaks for rank " + std::to_string(rank));
      }
    }
    up_.push_back(std::move(record));
  }
  return Status::Ok();
}

Status Control::OnDown(const std::vector<std::byte>& bytes, std::vector<DownMessage>& for_me) {
  HVDX_ASSIGN_OR_RETURN(auto records, negotiation::DecodeDown(bytes));
  for (const auto& record : records) {
    for (int rank : record.to) {
      const bool mine = rank == fabric_.rank();
      const bool child = is_leader() && rank >= 0 && rank < hosts_.size() &&
                         hosts_.leader_of(rank) == fabric_.rank();
      if (!mine && !child) {
        return Status::Unknown("it is addressed to rank " + std::to_string(rank));
      }
    }
  }
  PassDown(records, for_me);
  return Status::Ok();
}

void Control::PassDown(const std::vector<DownRecord>& records, std::vector<DownMessage>& for_me) {
  for (auto& [hop, batch] : negotiation::Split(records, hop_of_)) {
    if (hop != fabric_.rank()) {
      Post(hop, negotiation::Encode(batch));
      continue;
    }
    for (auto& record : batch) for_me.push_back(std::move(record.message));
  }
}

void Control::SpreadFailure(int culprit, const std::string& why) {
  std::vector<std::int32_t> below;
  for (int rank = 0; rank < hosts_.size(); ++rank) {
    const bool mine = is_root() || (is_leader() && hosts_.leader_of(rank) == fabric_.rank());
    if (mine && rank != fabric_.rank() && rank != culprit) below.push_back(rank);
  }
  std::vector<DownMessage> nobody;
  PassDown({{std::move(below), negotiation::Failed{culprit, why}}}, nobody);
  if (!is_root() && parent() != culprit) {
    const std::vector<UpRecord> up = {{{fabric_.rank()}, negotiation::Lost{culprit, why}}};
    Post(parent(), negotiation::Encode(up));
  }
}

}  // namespace horovodx::runtime
