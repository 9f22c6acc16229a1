// Medians and ratios, and the bars they are held to. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace horovodx::bench {

// The value below which `fraction` of the values lie (nearest rank); 0 for none.
double Percentile(std::vector<double> values, double fraction);
inline double Median(std::vector<double> values) { return Percentile(std::move(values), 0.5); }

// What the time of an allreduce over the time of MPI's may be at most; none where no bar is set
// (for other numbers of ranks than 2 and 4, and between the ranges of sizes).
std::optional<double> Bar(int ranks, std::size_t bytes);
// By how many bytes the resident memory of a rank may grow, however large the buckets.
inline constexpr double kGrowthBar = 16.0 * (1 << 20);
inline bool GrowthIsOverBar(double bytes) { return bytes > kGrowthBar; }

// As nccl-tests define them: bytes a second seen by the caller, and the same in terms of what a
// link must carry, which can be compared between numbers of ranks.
double AlgorithmBandwidth(std::size_t bytes, double seconds);
double BusBandwidth(std::size_t bytes, double seconds, int ranks);

std::string SizeText(std::size_t bytes);  // "64 KiB"
std::string TimeText(double seconds);     // "12.3 us"

}  // namespace horovodx::bench
