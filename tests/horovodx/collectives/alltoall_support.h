// What every form of alltoall must do.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "horovodx/collectives/patterns/blocks.h"
#include "tests/horovodx/collectives/gather_support.h"

namespace horovodx::testing_support {

using collectives::Blocks;

// How many bytes `from` has for `to`.
using PairSize = std::function<std::size_t(int from, int to)>;

inline Blocks SendBlocks(int rank, int ranks, const PairSize& size) {
  std::vector<std::size_t> sizes;
  for (int to = 0; to < ranks; ++to) sizes.push_back(size(rank, to));
  return Blocks::Packed(sizes);
}
inline Blocks ReceiveBlocks(int rank, int ranks, const PairSize& size) {
  std::vector<std::size_t> sizes;
  for (int from = 0; from < ranks; ++from) sizes.push_back(size(from, rank));
  return Blocks::Packed(sizes);
}

// What `from` has for `to` begins at a place of its own in the content of `from`.
inline std::byte PairContent(int from, int to, std::size_t i) {
  return Content(from, i + 17 * static_cast<std::size_t>(to));
}

inline std::vector<std::byte> InputOf(int rank, const Blocks& send) {
  std::vector<std::byte> in;
  for (int to = 0; to < send.ranks(); ++to) {
    for (std::size_t i = 0; i < send[to].size; ++i) in.push_back(PairContent(rank, to, i));
  }
  return in;
}
inline std::vector<std::byte> OutputOf(int rank, const Blocks& receive) {
  std::vector<std::byte> out;
  for (int from = 0; from < receive.ranks(); ++from) {
    for (std::size_t i = 0; i < receive[from].size; ++i) out.push_back(PairContent(from, rank, i));
  }
  return out;
}

using AlltoallCall = std::function<Status(Team&, ConstBytes in, const Blocks& send,
                                          MutableBytes out, const Blocks& receive)>;

// Runs it and checks all; returns what it returned.
inline Status CheckedAlltoall(Team& team, const PairSize& size, const AlltoallCall& alltoall) {
  const Blocks send = SendBlocks(team.rank(), team.size(), size);
  const Blocks receive = ReceiveBlocks(team.rank(), team.size(), size);
  const auto in = InputOf(team.rank(), send);
  std::vector<std::byte> out(receive.total(), std::byte{0xEE});
  const Status status = alltoall(team, in, send, out, receive);
  EXPECT_TRUE(in == InputOf(team.rank(), send)) << "input changed";
  if (status.ok()) {
    EXPECT_TRUE(out == OutputOf(team.rank(), receive)) << "rank " << team.rank();
  }
  return status;
}

}  // namespace horovodx::testing_support
