// How a range of elements is cut. Pure.
//
// ChunkPlan: one chunk a rank, as even as can be. WindowPlan: stretches of bounded size, streamed
// one after another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace horovodx::collectives {

struct Chunk {
  std::size_t begin = 0;  // elements
  std::size_t count = 0;

  constexpr std::size_t end() const { return begin + count; }
  friend constexpr bool operator==(const Chunk&, const Chunk&) = default;
};

class ChunkPlan {
 public:
  // `count` elements in `parts` chunks, in order, none more than one longer than another. There are
  // always `parts` of them; with fewer elements than parts the last are empty.
  ChunkPlan(std::size_t count, int parts) {
    const auto n = static_cast<std::size_t>(parts);
    for (std::size_t i = 0; i < n; ++i) {
      chunks_.push_back({i * (count / n) + std::min(i, count % n),
                         count / n + (i < count % n ? std::size_t{1} : 0)});
    }
  }

  // The same cuts, fewer of them: neighbouring chunks of `fine` merged into `parts`, the cuts that
  // stay being those that divide the *number* of chunks evenly.
  static ChunkPlan Merged(const ChunkPlan& fine, int parts) {
    ChunkPlan merged;
    const ChunkPlan groups(fine.chunks_.size(), parts);
    for (const Chunk& group : groups.chunks_) {
      Chunk all = group.begin < fine.chunks_.size() ? fine.chunks_[group.begin]
                                                    : Chunk{fine.chunks_.back().end(), 0};
      if (group.count > 0) all.count = fine.chunks_[group.end() - 1].end() - all.begin;
      merged.chunks_.push_back(all);
    }
    return merged;
  }

  int parts() const { return static_cast<int>(chunks_.size()); }
  const Chunk& operator[](int i) const { return chunks_[static_cast<std::size_t>(i)]; }
  std::size_t longest() const {
    std::size_t most = 0;
    for (const Chunk& chunk : chunks_) most = std::max(most, chunk.count);
    return most;
  }

 private:
  ChunkPlan() = default;
  std::vector<Chunk> chunks_;
};

// Stretches of `most` elements (the last one what is left). At least one, if an empty one: an
// allreduce of nothing is still a meeting of everybody.
class WindowPlan {
 public:
  constexpr WindowPlan(std::size_t count, std::size_t most) : count_(count), most_(most) {}

  constexpr std::size_t windows() const { return count_ == 0 ? 1 : (count_ - 1) / most_ + 1; }
  constexpr Chunk operator[](std::size_t i) const {
    const std::size_t begin = i * most_;
    return {begin, std::min(most_, count_ - begin)};
  }

 private:
  std::size_t count_;
  std::size_t most_;
};

}  // namespace horovodx::collectives
