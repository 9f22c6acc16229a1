// What every form of allgather must do.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "horovodx/collectives/patterns/blocks.h"
#include "tests/horovodx/collectives/gather_support.h"

namespace horovodx::testing_support {

using collectives::Block;
using collectives::Blocks;

using AllgatherCall =
    std::function<Status(Team&, const Blocks&, std::span<const MutableBytes> out)>;
using AllgatherCost = std::function<Traffic(const Blocks&, int rank)>;

// Block sizes to try for n ranks: none, one byte, equal, uneven with empty ones, all on one rank.
inline std::vector<std::vector<std::size_t>> BlockSizes(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> uneven(n);
  for (std::size_t i = 0; i < n; ++i) uneven[i] = i % 3 == 1 ? 0 : 37 * i + 1;
  std::vector<std::size_t> lonely(n, 0);
  lonely[n / 2] = 70'003;
  return {std::vector<std::size_t>(n, 0), std::vector<std::size_t>(n, 1),
          std::vector<std::size_t>(n, 5000), uneven, lonely};
}

// The same blocks in reverse order, with a gap of three bytes before each.
inline Blocks BackToFront(std::span<const std::size_t> sizes) {
  std::vector<Block> blocks(sizes.size());
  std::size_t offset = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    blocks[i] = {offset + 3, sizes[i]};
    offset = blocks[i].end();
  }
  return Blocks(std::move(blocks));
}

inline void Fill(std::vector<std::byte>& memory, const Blocks& blocks, int rank) {
  for (std::size_t i = 0; i < blocks[rank].size; ++i) {
    memory[blocks[rank].offset + i] = Content(rank, i);
  }
}

// Memory of `size` with every rank's block filled in.
inline std::vector<std::byte> Gathered(const Blocks& blocks, std::size_t size) {
  std::vector<std::byte> all(size, std::byte{0xEE});
  for (int rank = 0; rank < blocks.ranks(); ++rank) Fill(all, blocks, rank);
  return all;
}

inline void ExpectGathers(Team& team, const Blocks& blocks, const AllgatherCall& allgather,
                          const AllgatherCost& cost) {
  const std::size_t size =
      blocks.total() + 3 * static_cast<std::size_t>(blocks.ranks());  // room for gaps
  std::vector<std::byte> out(size, std::byte{0xEE});
  Fill(out, blocks, team.rank());
  const auto sent = SentDuring(team, [&] {
    const Status status = allgather(team, blocks, InPieces(out));
    ASSERT_TRUE(status.ok()) << status.ToString();
  });
  EXPECT_TRUE(out == Gathered(blocks, size)) << "rank " << team.rank();
  ExpectSent(sent, cost(blocks, team.rank()));
}

inline void ExpectGathersEverywhere(const AllgatherCall& allgather, const AllgatherCost& cost) {
  OnEveryTeam([&](Team& team) {
    for (const auto& sizes : BlockSizes(team.size())) {
      ExpectGathers(team, Blocks::Packed(sizes), allgather, cost);
      ExpectGathers(team, BackToFront(sizes), allgather, cost);
    }
  });
}

// `hosts`: of five ranks.
inline void ExpectAllgatherInterruptible(
    const AllgatherCall& allgather,
    const topology::HostMap& hosts = topology::HostMap::OneHost(5)) {
  const std::vector<std::size_t> sizes{9000, 20'000, 0, 1, 9000};
  const Blocks blocks = Blocks::Packed(sizes);
  for (int absent : {0, 2, 4}) {
    ExpectInterruptible(hosts, absent, [&](Team& team) {
      std::vector<std::byte> out(blocks.total(), std::byte{0xEE});
      Fill(out, blocks, team.rank());
      const MutableBytes whole(out);
      const Status status = allgather(team, blocks, {&whole, 1});
      const Block& mine = blocks[team.rank()];
      for (std::size_t i = 0; i < mine.size; ++i) {
        if (out[mine.offset + i] != Content(team.rank(), i)) ADD_FAILURE() << "input changed";
      }
      if (status.ok()) {
        EXPECT_TRUE(out == Gathered(blocks, out.size()));
      }
      return status;
    });
  }
}

}  // namespace horovodx::testing_support
