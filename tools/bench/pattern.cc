#include "tools/bench/pattern.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "horovodx/api/c_api.h"

namespace horovodx::bench {
namespace {

constexpr std::size_t kPeriod = 8191;
constexpr int kLargest = 6;  // 20 ranks stay below 127, the most an int8 holds

template <typename T>
std::vector<std::byte> EncodeAs(const std::vector<int>& numbers) {
  std::vector<std::byte> out(numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const T value = static_cast<T>(numbers[i]);
    std::memcpy(&out[i * sizeof(T)], &value, sizeof(T));
  }
  return out;
}

// Whole numbers up to 255 are exact in bfloat16: the upper half of the float.
std::vector<std::byte> EncodeBfloat16(const std::vector<int>& numbers) {
  std::vector<std::byte> out(numbers.size() * 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto half = static_cast<std::uint16_t>(
        std::bit_cast<std::uint32_t>(static_cast<float>(numbers[i])) >> 16);
    std::memcpy(&out[i * 2], &half, 2);
  }
  return out;
}

// Also exact in float16: the float's exponent moved from bias 127 to 15, the upper mantissa bits.
std::vector<std::byte> EncodeFloat16(const std::vector<int>& numbers) {
  std::vector<std::byte> out(numbers.size() * 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(numbers[i]));
    const std::uint32_t half = numbers[i] == 0 ? 0 : (bits >> 13) - ((127 - 15) << 10);
    const auto low = static_cast<std::uint16_t>(half);
    std::memcpy(&out[i * 2], &low, 2);
  }
  return out;
}

struct TypeRow {
  const char* name;
  int type;
  std::size_t size;
  std::vector<std::byte> (*encode)(const std::vector<int>&);
};
const TypeRow kTypes[] = {
    {"float32", HVDX_FLOAT32, 4, EncodeAs<float>},
    {"float64", HVDX_FLOAT64, 8, EncodeAs<double>},
    {"float16", HVDX_FLOAT16, 2, EncodeFloat16},
    {"bfloat16", HVDX_BFLOAT16, 2, EncodeBfloat16},
    {"int8", HVDX_INT8, 1, EncodeAs<std::int8_t>},
    {"uint8", HVDX_UINT8, 1, EncodeAs<std::uint8_t>},
    {"int32", HVDX_INT32, 4, EncodeAs<std::int32_t>},
    {"int64", HVDX_INT64, 8, EncodeAs<std::int64_t>},
};

std::vector<std::byte> Doubled(std::vector<std::byte> bytes) {
  const std::size_t n = bytes.size();
  bytes.resize(2 * n);
  std::copy_n(bytes.begin(), n, bytes.begin() + static_cast<std::ptrdiff_t>(n));
  return bytes;
}

}  // namespace

Pattern::Pattern(const std::string& type, int ranks) : ranks_(ranks) {
  for (const auto& row : kTypes) {
    if (type != row.name) continue;
    type_ = row.type;
    element_size_ = row.size;
    encode_ = row.encode;
  }
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < kPeriod; ++i) {
    state = state * 1664525 + 1013904223;
    numbers_.push_back(static_cast<int>((state >> 16) % (kLargest + 1)));
  }
  terms_ = Doubled(encode_(numbers_));
}

std::vector<std::string> Pattern::Types() {
  std::vector<std::string> names;
  for (const auto& row : kTypes) names.emplace_back(row.name);
  return names;
}

std::size_t Pattern::Start(std::size_t bytes, int rank, std::size_t iteration) const {
  return (static_cast<std::size_t>(rank) * 977 + iteration * 131 + bytes * 31) % kPeriod;
}

void Pattern::Fill(void* data, std::size_t bytes, int rank, std::size_t iteration) {
  const std::size_t period = kPeriod * element_size_;
  const std::byte* from = &terms_[Start(bytes, rank, iteration) * element_size_];
  auto* to = static_cast<std::byte*>(data);
  for (std::size_t at = 0; at < bytes; at += period) {
    std::memcpy(to + at, from, std::min(period, bytes - at));
  }
}

void Pattern::MakeSum(std::size_t bytes, std::size_t iteration) {
  if (has_sum_ && sum_of_bytes_ == bytes && sum_of_iteration_ == iteration) return;
  std::vector<int> sums(kPeriod, 0);
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::size_t start = Start(bytes, rank, iteration);
    for (std::size_t i = 0; i < kPeriod; ++i) sums[i] += numbers_[(start + i) % kPeriod];
  }
  sum_ = encode_(sums);
  sum_of_bytes_ = bytes;
  sum_of_iteration_ = iteration;
  has_sum_ = true;
}

std::optional<std::size_t> Pattern::FindWrong(const void* data, std::size_t bytes,
                                              std::size_t iteration, bool all) {
  MakeSum(bytes, iteration);
  const auto* got = static_cast<const std::byte*>(data);
  const std::size_t period = kPeriod * element_size_;
  if (all) {
    for (std::size_t at = 0; at < bytes; at += period) {
      const std::size_t n = std::min(period, bytes - at);
      if (std::memcmp(got + at, sum_.data(), n) == 0) continue;
      return at + static_cast<std::size_t>(
                      std::mismatch(got + at, got + at + n, sum_.begin()).first - (got + at));
    }
    return std::nullopt;
  }
  const std::size_t count = bytes / element_size_;
  const std::size_t stride = std::max<std::size_t>(1, count / 127);
  const auto wrong = [&](std::size_t i) {
    return std::memcmp(got + i * element_size_, &sum_[i % kPeriod * element_size_],
                       element_size_) != 0;
  };
  for (std::size_t i = 0; i < count; i += stride) {
    if (wrong(i)) return i * element_size_;
  }
  if (count > 0 && wrong(count - 1)) return (count - 1) * element_size_;
  return std::nullopt;
}

}  // namespace horovodx::bench
