#include "horovodx/collectives/alltoall_bruck.h"

#include <algorithm>
#include <string>
#include <vector>

#include "horovodx/collectives/patterns/blocks.h"

namespace horovodx::collectives {
namespace {

// The blocks a rank carries, by the distance they had to go when they set out.
class Satchel {
 public:
  Satchel(int rank, int ranks, std::size_t block_bytes)
      : rank_(rank), ranks_(ranks), block_(block_bytes), held_(ranks * block_bytes) {}

  void Fill(ConstBytes in) {
    for (int d = 0; d < ranks_; ++d) {
      std::ranges::copy(in.subspan(Wrap(rank_ + d, ranks_) * block_, block_), At(d).begin());
    }
  }
  // Copies the blocks with this digit out of the way of those that will replace them.
  ConstBytes TakeOut(int digit) {
    leaving_.clear();
    for (int d = digit; d < ranks_; ++d) {
      if ((d & digit) != 0) std::ranges::copy(At(d), std::back_inserter(leaving_));
    }
    return leaving_;
  }
  std::vector<MutableBytes> RoomFor(int digit) {
    std::vector<MutableBytes> room;
    for (int d = digit; d < ranks_; ++d) {
      if ((d & digit) != 0) room.push_back(At(d));
    }
    return room;
  }
  // What has gone distance d until it was here came from the rank d before me.
  void Empty(MutableBytes out) {
    for (int d = 0; d < ranks_; ++d) {
      std::ranges::copy(At(d), out.subspan(Wrap(rank_ - d, ranks_) * block_).begin());
    }
  }

 private:
  MutableBytes At(int distance) {
    return MutableBytes(held_).subspan(static_cast<std::size_t>(distance) * block_, block_);
  }

  int rank_;
  int ranks_;
  std::size_t block_;
  std::vector<std::byte> held_;
  std::vector<std::byte> leaving_;
};

}  // namespace

Status AlltoallBruck(Team& team, ConstBytes in, MutableBytes out) {
  const int n = team.size();
  if (in.size() != out.size() || in.size() % static_cast<std::size_t>(n) != 0) {
    return Status::InvalidArgument("alltoall: " + std::to_string(in.size()) + " bytes into " +
                                   std::to_string(out.size()) + " are not equal blocks for " +
                                   std::to_string(n) + " ranks");
  }
  Satchel satchel(team.rank(), n, in.size() / static_cast<std::size_t>(n));
  satchel.Fill(in);
  for (int digit = 1; digit < n; digit *= 2) {
    const int to = Wrap(team.rank() + digit, n);
    const int from = Wrap(team.rank() - digit, n);
    const ConstBytes leaving = satchel.TakeOut(digit);
    HVDX_RETURN_IF_ERROR(team.Exchange(to, {&leaving, 1}, from, satchel.RoomFor(digit)));
  }
  satchel.Empty(out);
  return Status::Ok();
}

Traffic CostOfAlltoallBruck(std::size_t bytes, int ranks) {
  Traffic cost;
  const std::size_t block = bytes / static_cast<std::size_t>(ranks);
  for (int digit = 1; digit < ranks; digit *= 2) {
    ++cost.messages;
    for (int d = digit; d < ranks; ++d) cost.bytes += (d & digit) != 0 ? block : 0;
  }
  return cost;
}

}  // namespace horovodx::collectives
