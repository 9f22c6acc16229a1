// What every allreduce must hold to, as one suite: each algorithm's test runs it on its function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/team.h"
#include "horovodx/topology/host_map.h"

namespace horovodx::collectives::testing_suite {

using AllreduceFunction = Status (*)(Team& team, const MutableBuffer& buffer, ReduceOp op);

// How a buffer lies in memory.
enum class Split { kWhole, kTwo, kMany };

// A buffer of the test's own, with guards between its pieces.
class SplitBuffer {
 public:
  SplitBuffer(ElementType type, const std::vector<double>& values, Split split);

  MutableBuffer buffer() const { return MutableBuffer(type_, pieces_); }
  std::vector<double> values() const;
  std::vector<std::byte> bytes() const;  // the elements' memory, piece after piece
  bool guards_intact() const;

 private:
  ElementType type_;
  std::vector<std::byte> memory_;
  std::vector<kernels::Piece> pieces_;
};

// The ranks and hosts that allreduces are tried on.
std::vector<topology::HostMap> OneHostWorlds();  // 1 to 9, 12, 16, 17 ranks
std::vector<topology::HostMap> HostWorlds();     // grids, uneven and interleaved hosts

// Right results for counts from 0 to 65537, types, operations and pieces in turn.
void ExpectRightResults(AllreduceFunction allreduce, const topology::HostMap& hosts);
// Sums that must be rounded, and minima of 0 and -0, end in the same bits everywhere.
void ExpectSameBitsOnAllRanks(AllreduceFunction allreduce, const topology::HostMap& hosts);
// Not even an allreduce of nothing is done before every rank has called it.
void ExpectNobodyDoneBeforeAllHaveCome(AllreduceFunction allreduce, const topology::HostMap& hosts);
// When one rank never comes and the others are interrupted, no buffer has changed; and the next
// epoch's allreduce is right.
void ExpectInputsKeptWhenARankStaysAway(AllreduceFunction allreduce,
                                        const topology::HostMap& hosts);
// The rank that sends most sends exactly so many messages and bytes of `count` float32.
void ExpectCost(AllreduceFunction allreduce, const topology::HostMap& hosts, std::size_t count,
                const Cost& cost);

// All of the above but the last two, on all worlds of a list.
void RunSuite(AllreduceFunction allreduce, const std::vector<topology::HostMap>& worlds);

// Divides evenly by 1 to 9, 12 and 16, also twice.
inline constexpr std::size_t kEvenCount = 5040 * 16;

}  // namespace horovodx::collectives::testing_suite
