// Which process sets exist, and what the ranks of the world want changed about them. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

class SetRoster {
 public:
  // sets[0] is the world of `size` ranks; their ids are their places.
  SetRoster(int size, const std::vector<std::vector<std::int32_t>>& sets);

  // A set exists from here on, is to be removed (ask Remove() when nothing of it runs any more), or
  // the change is refused.
  using Decision = std::variant<SetAdded, SetRemoved, SetRefused>;
  // This rank wants that change. When all ranks have said what they want: the decision about it.
  // An error: the rank has not waited for the answer to its last one.
  Result<std::optional<Decision>> Want(int rank, AddSet add);
  Result<std::optional<Decision>> Want(int rank, RemoveSet remove);
  // Frees the id.
  void Remove(std::int32_t set);

 private:
  using Wish = std::variant<AddSet, RemoveSet>;
  Result<std::optional<Decision>> Take(int rank, Wish wish);
  Decision Decide() const;
  Decision Decide(const AddSet& add) const;
  Decision Decide(const RemoveSet& remove) const;

  int size_;
  std::map<std::int32_t, std::vector<std::int32_t>> sets_;
  std::int32_t next_id_ = 0;
  std::uint32_t next_channel_ = 0;
  std::deque<std::int32_t> freed_;
  std::vector<std::optional<Wish>> wishes_;
  int count_ = 0;
};

}  // namespace horovodx::negotiation
