#include "horovodx/negotiation/set_roster.h"

#include <algorithm>
#include <utility>

#include "horovodx/negotiation/shape.h"

namespace horovodx::negotiation {
namespace {

SetRefused Refuse(std::int32_t code, std::string why) { return {code, std::move(why)}; }

std::string ToString(const std::vector<std::int32_t>& ranks) {
  return negotiation::ToString(std::vector<std::int64_t>(ranks.begin(), ranks.end()));
}

}  // namespace

SetRoster::SetRoster(int size, const std::vector<std::vector<std::int32_t>>& sets)
    : size_(size), wishes_(size) {
  for (const auto& ranks : sets) sets_[next_id_++] = ranks;
  next_channel_ = static_cast<std::uint32_t>(next_id_);
}

Result<std::optional<SetRoster::Decision>> SetRoster::Want(int rank, AddSet add) {
  std::sort(add.ranks.begin(), add.ranks.end());
  return Take(rank, std::move(add));
}

Result<std::optional<SetRoster::Decision>> SetRoster::Want(int rank, RemoveSet remove) {
  return Take(rank, remove);
}

Result<std::optional<SetRoster::Decision>> SetRoster::Take(int rank, Wish wish) {
  if (wishes_[rank]) {
    return Status::Unknown("negotiation: rank " + std::to_string(rank) +
                           " wants a second change of process sets before the answer to its first");
  }
  wishes_[rank] = std::move(wish);
  if (++count_ < size_) return std::optional<Decision>();
  Decision decision = Decide();
  wishes_.assign(size_, std::nullopt);
  count_ = 0;
  if (auto* added = std::get_if<SetAdded>(&decision)) {
    const bool reuse = !freed_.empty();
    added->set = reuse ? freed_.front() : next_id_++;
    if (reuse) freed_.pop_front();
    added->channel = next_channel_++;
    sets_[added->set] = added->ranks;
  }
  return std::optional<Decision>(std::move(decision));
}

SetRoster::Decision SetRoster::Decide() const {
  for (int rank = 1; rank < size_; ++rank) {
    if (*wishes_[rank] == *wishes_[0]) continue;
    const bool both_add = std::holds_alternative<AddSet>(*wishes_[0]) &&
                          std::holds_alternative<AddSet>(*wishes_[rank]);
    std::string what =
        "rank 0 and rank " + std::to_string(rank) + " want different changes of the process sets";
    if (both_add) {
      what += ": ranks " + ToString(std::get<AddSet>(*wishes_[0]).ranks) + " and " +
              ToString(std::get<AddSet>(*wishes_[rank]).ranks);
    }
    return Refuse(kSetInvalid, std::move(what));
  }
  return std::visit([this](const auto& wish) { return this->Decide(wish); }, *wishes_[0]);
}

SetRoster::Decision SetRoster::Decide(const AddSet& add) const {
  const auto& ranks = add.ranks;
  if (ranks.empty() || ranks.front() < 0 || ranks.back() >= size_) {
    return Refuse(kSetInvalid, "a process set of ranks " + ToString(ranks) +
                                   " is not part of a world of " + std::to_string(size_));
  }
  if (std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end()) {
    return Refuse(kSetInvalid, "a rank appears twice in a process set of " + ToString(ranks));
  }
  for (const auto& [id, existing] : sets_) {
    if (existing != ranks) continue;
    return Refuse(kSetExists, "process set " + std::to_string(id) + " already has the ranks " +
                                  ToString(ranks));
  }
  return SetAdded{0, 0, ranks};
}

SetRoster::Decision SetRoster::Decide(const RemoveSet& remove) const {
  if (remove.set == 0) return Refuse(kSetUnknown, "process set 0 is the world and stays");
  if (!sets_.contains(remove.set)) {
    return Refuse(kSetUnknown, "there is no process set " + std::to_string(remove.set));
  }
  return SetRemoved{remove.set};
}

void SetRoster::Remove(std::int32_t set) {
  if (sets_.erase(set) > 0) freed_.push_back(set);
}

}  // namespace horovodx::negotiation
