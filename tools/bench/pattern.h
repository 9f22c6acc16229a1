// Pattern: data to add up, different for every rank and iteration, whose sum is known exactly.
// Pure.
//
// A table of small whole numbers is repeated over the tensor, starting at a place that depends on
// rank, iteration and size. Its period is a prime number of elements, so a piece that ends up in
// the wrong place is seen. Sums of up to 20 ranks are exact in every type. Filling and checking
// cost a memcpy and a memcmp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace horovodx::bench {

class Pattern {
 public:
  // The type is one of Types(). At most MostRanks().
  Pattern(const std::string& type, int ranks);

  static std::vector<std::string> Types();
  static int MostRanks() { return 20; }

  int type() const { return type_; }                          // enum hvdx_type
  std::size_t element_size() const { return element_size_; }  // bytes

  // What `rank` contributes to iteration `iteration` of a tensor of `bytes` bytes.
  void Fill(void* data, std::size_t bytes, int rank, std::size_t iteration);
  // The first byte at which `data` is not the sum over all ranks; none if it is. `all` looks at
  // everything, else at some places, the first and last element among them.
  std::optional<std::size_t> FindWrong(const void* data, std::size_t bytes, std::size_t iteration,
                                       bool all);

 private:
  std::size_t Start(std::size_t bytes, int rank, std::size_t iteration) const;
  void MakeSum(std::size_t bytes, std::size_t iteration);

  int ranks_;
  int type_ = 0;
  std::size_t element_size_ = 0;
  // Two periods, so that a period can be copied from any start.
  std::vector<std::byte> terms_;
  std::vector<std::byte> sum_;
  std::vector<int> numbers_;
  std::vector<std::byte> (*encode_)(const std::vector<int>&) = nullptr;
  std::size_t sum_of_bytes_ = 0;
  std::size_t sum_of_iteration_ = 0;
  bool has_sum_ = false;
};

}  // namespace horovodx::bench
