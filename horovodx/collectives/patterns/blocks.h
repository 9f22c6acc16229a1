// Blocks: where each rank's share of a buffer begins and how long it is; windows and segments of
// them. Pure.
//
// Counted in bytes by operations that move memory, in elements by those that compute. Blocks may
// differ in size, be empty, and lie in any order; they do not overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace horovodx::collectives {

struct Block {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t end() const { return offset + size; }
  bool operator==(const Block&) const = default;
};

class Blocks {
 public:
  explicit Blocks(std::vector<Block> blocks) : blocks_(std::move(blocks)) {}

  // One after the other, from the beginning.
  static Blocks Packed(std::span<const std::size_t> sizes) {
    std::vector<Block> blocks;
    std::size_t offset = 0;
    for (std::size_t size : sizes) {
      blocks.push_back({offset, size});
      offset += size;
    }
    return Blocks(std::move(blocks));
  }
  // `rows` rows of `row_size` dealt out as evenly as can be: the first rows % ranks ranks get one
  // more than the others.
  static Blocks Rows(std::size_t rows, std::size_t row_size, int ranks) {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<std::size_t> sizes(n);
    for (std::size_t i = 0; i < n; ++i) sizes[i] = (rows / n + (i < rows % n ? 1 : 0)) * row_size;
    return Packed(sizes);
  }

  int ranks() const { return static_cast<int>(blocks_.size()); }
  const Block& operator[](int rank) const { return blocks_[static_cast<std::size_t>(rank)]; }
  // All blocks together.
  std::size_t total() const {
    std::size_t sum = 0;
    for (const Block& block : blocks_) sum += block.size;
    return sum;
  }
  std::size_t largest() const {
    std::size_t most = 0;
    for (const Block& block : blocks_) most = std::max(most, block.size);
    return most;
  }
  // One for each of `team_size` ranks, none reaching beyond `size`.
  bool FitIn(std::size_t size, int team_size) const {
    return ranks() == team_size && std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& b) {
             return b.offset <= size && b.size <= size - b.offset;
           });
  }

 private:
  std::vector<Block> blocks_;
};

// How many parts of at most `part` a block is cut into. An empty block is one empty part: its
// message still says "I have come".
constexpr std::size_t PartsOf(std::size_t size, std::size_t part) {
  return size == 0 ? 1 : (size - 1) / part + 1;
}

// Part `index` of a block, empty behind its end.
inline Block PartOf(const Block& block, std::size_t part, std::size_t index) {
  const std::size_t from = std::min(block.size, index * part);
  return {block.offset + from, std::min(part, block.size - from)};
}

// Place `i` on the circle 0..n-1; `i` may be as low as -n and as high as 2n-1.
constexpr int Wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

}  // namespace horovodx::collectives
