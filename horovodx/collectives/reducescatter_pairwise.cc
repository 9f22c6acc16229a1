#include "horovodx/collectives/reducescatter_pairwise.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/reduce.h"

namespace horovodx::collectives {
namespace {

constexpr std::size_t kScratchBytes = 2 << 20;
constexpr std::size_t kLeastWindowBytes = 16 << 10;
constexpr std::size_t kMostWindowBytes = 256 << 10;

// In elements; the same on all ranks.
std::size_t WindowOf(const Blocks& blocks, ElementType type) {
  const std::size_t bytes = std::clamp(kScratchBytes / static_cast<std::size_t>(blocks.ranks()),
                                       kLeastWindowBytes, kMostWindowBytes);
  return std::clamp<std::size_t>(blocks.largest(), 1, bytes / SizeOf(type));
}

// The same window of every block: mine gathered from all ranks, theirs sent to them.
class Meeting {
 public:
  Meeting(Team& team, const Blocks& blocks, const Contribution& mine, ElementType type,
          std::size_t window)
      : team_(team),
        blocks_(blocks),
        mine_(mine),
        type_(type),
        window_(window),
        scratch_(std::make_unique_for_overwrite<std::byte[]>(
            static_cast<std::size_t>(team.size() + 1) * window * SizeOf(type))) {}

  Status Exchange(std::size_t w) {
    const int n = team_.size();
    const std::size_t bytes = PartOf(blocks_[team_.rank()], window_, w).size * SizeOf(type_);
    for (int step = 1; step < n; ++step) {
      const int to = Wrap(team_.rank() + step, n);
      const int from = Wrap(team_.rank() - step, n);
      const auto send = mine_.ToSend(PartOf(blocks_[to], window_, w), Room(n));
      const MutableBytes receive(Room(n - 1 - step), bytes);
      HVDX_RETURN_IF_ERROR(team_.Exchange(to, send, from, {&receive, 1}));
    }
    return Status::Ok();
  }

  // Adds up window `w` of my block. The result stays in scratch until the next Exchange.
  const void* Reduce(std::size_t w, const Reduction& reduction) {
    const int n = team_.size();
    const Block stretch = PartOf(blocks_[team_.rank()], window_, w);
    std::vector<const void*> inputs;
    for (int i = 0; i < n - 1; ++i) inputs.push_back(Room(i));
    inputs.push_back(mine_.InOnePiece(stretch, Room(n - 1)));
    if (stretch.size > 0) {
      kernels::ReduceMany(type_, reduction.op, Room(n - 1), inputs.data(), n, stretch.size,
                          reduction.postscale);
    }
    return Room(n - 1);
  }

 private:
  // Room i < n-1: what came from rank + 1 + i. Room n-1: my own, and the sum. Room n: what I send.
  std::byte* Room(int i) {
    return scratch_.get() + static_cast<std::size_t>(i) * window_ * SizeOf(type_);
  }

  Team& team_;
  const Blocks& blocks_;
  const Contribution& mine_;
  ElementType type_;
  std::size_t window_;
  std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace

Status ReducescatterPairwise(Team& team, const MutableBuffer& in, const Blocks& blocks,
                             const MutableBuffer& out, const Reduction& reduction) {
  HVDX_RETURN_IF_ERROR(CheckReducescatter(team.size(), team.rank(), in, blocks, out, reduction));
  const std::size_t window = WindowOf(blocks, in.type());
  const Contribution mine(in, reduction, window);
  Meeting meeting(team, blocks, mine, in.type(), window);
  for (std::size_t w = 0; w < PartsOf(blocks.largest(), window); ++w) {
    HVDX_RETURN_IF_ERROR(meeting.Exchange(w));
    const void* sum = meeting.Reduce(w, reduction);
    Deliver(sum, out, PartOf({0, out.count()}, window, w), 1.0);
  }
  return Status::Ok();
}

Traffic CostOfReducescatterPairwise(const Blocks& blocks, ElementType type, int rank) {
  const std::size_t windows = PartsOf(blocks.largest(), WindowOf(blocks, type));
  return {windows * static_cast<std::size_t>(blocks.ranks() - 1),
          (blocks.total() - blocks[rank].size) * SizeOf(type)};
}

}  // namespace horovodx::collectives
