// Which form of allgather, broadcast, alltoall and reducescatter to run. Pure.
//
// All ranks ask with the same numbers, so all get the same answer. README.md says why each limit is
// where it is.
#pragma once

#include <cstddef>

namespace horovodx::collectives {

enum class AllgatherForm { kBruck, kRing, kHierarchical };
enum class BroadcastForm { kBinomial, kScatterAllgather, kChain };
enum class AlltoallForm { kBruck, kPairwise };
enum class ReducescatterForm { kPairwise, kRing };

const char* NameOf(AllgatherForm form);
const char* NameOf(BroadcastForm form);
const char* NameOf(AlltoallForm form);
const char* NameOf(ReducescatterForm form);

// `total_bytes`: all blocks together. `hierarchical`: asked for (HOROVOD_HIERARCHICAL_ALLGATHER);
// it counts where some hosts have several ranks.
AllgatherForm SelectAllgather(std::size_t total_bytes, int ranks, int hosts = 1,
                              bool hierarchical = false);
// `bytes`: the buffer of one rank.
BroadcastForm SelectBroadcast(std::size_t bytes, int ranks);
// `block_bytes`: what each rank has for each other, the same everywhere. (Where blocks differ there
// is only one form, pairwise.)
AlltoallForm SelectAlltoall(std::size_t block_bytes, int ranks);
// `total_bytes`: the input of one rank.
ReducescatterForm SelectReducescatter(std::size_t total_bytes, int ranks);

}  // namespace horovodx::collectives
