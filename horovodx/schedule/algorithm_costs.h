// AlgorithmCosts: what the allreduces of one team took, kept apart by algorithm, and from that what
// its links take. Pure; one thread at a time.
//
// Times are those of rank 0, for which a tree is over earlier than for the ranks below it: a time
// is held against what rank 0 would have to wait for.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "horovodx/collectives/predict.h"
#include "horovodx/collectives/select.h"
#include "horovodx/schedule/cost_fit.h"

namespace horovodx::schedule {

class AlgorithmCosts {
 public:
  using Algorithm = collectives::AllreduceAlgorithm;

  // Who and how many; the bytes do not matter.
  explicit AlgorithmCosts(const collectives::SelectInput& team) : team_(team) {
    team_.costs = nullptr;
    team_.overrides = {};
  }

  void Add(Algorithm algorithm, std::uint64_t bytes, double seconds);
  std::uint64_t samples() const { return samples_; }
  // Of this algorithm at sizes like this.
  std::uint64_t SamplesLike(Algorithm algorithm, std::uint64_t bytes) const;

  // Links fitted to everything, corrections to each algorithm.
  collectives::AllreduceCosts Fit() const;
  // What each algorithm took by its size, as pieces of lines.
  const std::map<Algorithm, CostFit>& by_algorithm() const { return fits_; }

 private:
  collectives::SelectInput team_;
  std::map<Algorithm, CostFit> fits_;
  std::uint64_t samples_ = 0;
};

// "inside a host 9.1 us + 4.2 GB/s, between hosts 41 us + 1.1 GB/s"
std::string Describe(const collectives::LevelCosts& levels);

}  // namespace horovodx::schedule
