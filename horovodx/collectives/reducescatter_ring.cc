#include "horovodx/collectives/reducescatter_ring.h"

#include <algorithm>
#include <array>
#include <memory>

namespace horovodx::collectives {
namespace {

// One turn of the ring: the same window of every block.
class Turn {
 public:
  Turn(Team& team, const Blocks& blocks, Contribution& mine, ElementType type, std::size_t window)
      : team_(team), blocks_(blocks), mine_(mine), unit_(SizeOf(type)), window_(window) {
    for (auto& room : partial_) room = std::make_unique_for_overwrite<std::byte[]>(window * unit_);
  }

  // Sends the sums round; `result` is then window `w` of my block, summed up.
  Status Run(std::size_t w, const void*& result) {
    const int n = team_.size();
    std::byte* partial = partial_[1].get();
    result = partial;
    if (n == 1) {
      result = mine_.InOnePiece(PartOf(blocks_[0], window_, w), partial);
      return Status::Ok();
    }
    auto send = mine_.ToSend(PartOf(blocks_[Wrap(team_.rank() - 1, n)], window_, w), partial);
    for (int step = 0; step < n - 1; ++step) {
      const Block stretch = PartOf(blocks_[Wrap(team_.rank() - 2 - step, n)], window_, w);
      partial = partial_[step % 2].get();
      HVDX_RETURN_IF_ERROR(ReceiveAndAdd(send, stretch, partial));
      send = {BytesOf(partial, stretch.size * unit_)};
      result = partial;
    }
    return Status::Ok();
  }

 private:
  Status ReceiveAndAdd(const std::vector<ConstBytes>& send, const Block& stretch,
                       std::byte* partial) {
    const int right = Wrap(team_.rank() + 1, team_.size());
    const int left = Wrap(team_.rank() - 1, team_.size());
    const MutableBytes receive(partial, stretch.size * unit_);
    return team_.Exchange(
        right, send, left, {&receive, 1}, unit_, [&](std::size_t begin, std::size_t end) {
          mine_.AddTo(partial + begin, {stretch.offset + begin / unit_, (end - begin) / unit_});
        });
  }

  Team& team_;
  const Blocks& blocks_;
  Contribution& mine_;
  std::size_t unit_;
  std::size_t window_;
  // One is sent from while the other receives.
  std::array<std::unique_ptr<std::byte[]>, 2> partial_;
};

std::size_t WindowOf(const Blocks& blocks, ElementType type, std::size_t window_bytes) {
  const std::size_t most = std::max<std::size_t>(1, window_bytes / SizeOf(type));
  return std::clamp<std::size_t>(blocks.largest(), 1, most);
}

}  // namespace

Status ReducescatterRing(Team& team, const MutableBuffer& in, const Blocks& blocks,
                         const MutableBuffer& out, const Reduction& reduction,
                         std::size_t window_bytes) {
  HVDX_RETURN_IF_ERROR(CheckReducescatter(team.size(), team.rank(), in, blocks, out, reduction));
  const std::size_t window = WindowOf(blocks, in.type(), window_bytes);
  Contribution mine(in, reduction, window);
  Turn turn(team, blocks, mine, in.type(), window);
  for (std::size_t w = 0; w < PartsOf(blocks.largest(), window); ++w) {
    const void* result = nullptr;
    HVDX_RETURN_IF_ERROR(turn.Run(w, result));
    Deliver(result, out, PartOf({0, out.count()}, window, w), reduction.postscale);
  }
  return Status::Ok();
}

Traffic CostOfReducescatterRing(const Blocks& blocks, ElementType type, int rank,
                                std::size_t window_bytes) {
  const std::size_t windows = PartsOf(blocks.largest(), WindowOf(blocks, type, window_bytes));
  return {windows * static_cast<std::size_t>(blocks.ranks() - 1),
          (blocks.total() - blocks[rank].size) * SizeOf(type)};
}

}  // namespace horovodx::collectives
