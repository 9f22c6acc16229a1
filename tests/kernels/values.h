// Memory full of every kind of value, for tests of the kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/dispatch.h"
#include "kernels/types.h"

namespace horovodx::kernels {

inline constexpr ElementType kAllTypes[] = {
    ElementType::kUint8,   ElementType::kInt8,  ElementType::kUint16,  ElementType::kInt16,
    ElementType::kInt32,   ElementType::kInt64, ElementType::kFloat16, ElementType::kFloat32,
    ElementType::kFloat64, ElementType::kBool,  ElementType::kBfloat16};

inline constexpr ReduceOp kAllOps[] = {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax,
                                       ReduceOp::kProduct};

// Elements at an odd address with guard bytes around them.
class Elements {
 public:
  Elements(ElementType type, std::size_t count, std::size_t shift = 1)
      : type_(type), count_(count), shift_(shift), bytes_(shift + bytes() + kGuard, kGuardByte) {}

  void* data() { return bytes_.data() + shift_; }
  const void* data() const { return bytes_.data() + shift_; }
  ElementType type() const { return type_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * SizeOf(type_); }

  // Bits of element i.
  std::uint64_t Bits(std::size_t i) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const std::byte*>(data()) + i * SizeOf(type_), SizeOf(type_));
    return bits;
  }
  void SetBits(std::size_t i, std::uint64_t bits) {
    std::memcpy(static_cast<std::byte*>(data()) + i * SizeOf(type_), &bits, SizeOf(type_));
  }

  bool GuardsIntact() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const bool inside = i >= shift_ && i < shift_ + bytes();
      if (!inside && bytes_[i] != kGuardByte) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 67;
  static constexpr std::byte kGuardByte{0xa5};
  ElementType type_;
  std::size_t count_;
  std::size_t shift_;
  std::vector<std::byte> bytes_;
};

// Zeros of both signs, ones, infinities, NaNs quiet and signalling, denormals, the extremes: as
// bits of the float type.
inline std::vector<std::uint64_t> SpecialBits(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01,
              0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3555, 0x6800, 0x6801};
    case ElementType::kBfloat16:
      return {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffff, 0x7f81,
              0x0001, 0x8001, 0x007f, 0x0080, 0x7f7f, 0xff7f, 0x3eab, 0x4380, 0x4381};
    case ElementType::kFloat32:
      return {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
              0x7fc00000, 0xffffffff, 0x7f800001, 0x00000001, 0x80000001, 0x007fffff,
              0x00800000, 0x7f7fffff, 0xff7fffff, 0x477ff000, 0x477fefff, 0x33000000};
    case ElementType::kFloat64:
      return {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
              0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xffffffffffffffff,
              0x7ff0000000000001, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
              0x43e0000000000000, 0xc3e0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
              0x3ff0020000000001, 0x3f50624dd2f1a9fc, 0x41dfffffffc00000, 0x36a0000000000001};
    default:
      return {0,
              1,
              2,
              0x7f,
              0x80,
              0xff,
              0x7fff,
              0x8000,
              0x7fffffff,
              0x80000000,
              0x7fffffffffffffff,
              0x8000000000000000,
              0xffffffffffffffff,
              0x20000000000001};
  }
}

// Floats near 1, where sums and products round without overflow.
inline std::uint64_t OrdinaryBits(ElementType type, std::uint64_t random) {
  switch (type) {
    case ElementType::kFloat16:
      return (random & 0x83ff) | (0x3800 + ((random >> 20) & 3) * 0x400);
    case ElementType::kBfloat16:
      return (random & 0x807f) | (0x3f00 + ((random >> 20) & 3) * 0x80);
    case ElementType::kFloat32:
      return (random & 0x807fffff) | (0x3f000000 + ((random >> 32) & 3) * 0x800000);
    case ElementType::kFloat64:
      return (random & 0x800fffffffffffff) | 0x3ff0000000000000;
    default:
      return random;
  }
}

// A third special, a third ordinary, a third any bits at all; the same for the same seed.
inline Elements SomeElements(ElementType type, std::size_t count, unsigned seed,
                             std::size_t shift = 1) {
  Elements elements(type, count, shift);
  std::mt19937_64 random(seed);
  const std::vector<std::uint64_t> special = SpecialBits(type);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    switch (random() % 3) {
      case 0:
        elements.SetBits(i, special[bits % special.size()]);
        break;
      case 1:
        elements.SetBits(i, OrdinaryBits(type, bits));
        break;
      default:
        elements.SetBits(i, bits);
    }
  }
  return elements;
}

inline bool IsNan(ElementType type, std::uint64_t bits) {
  switch (type) {
    case ElementType::kFloat16:
      return (bits & 0x7fff) > 0x7c00;
    case ElementType::kBfloat16:
      return (bits & 0x7fff) > 0x7f80;
    case ElementType::kFloat32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case ElementType::kFloat64:
      return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default:
      return false;
  }
}

// The same bits, except that any NaN is as good as any other.
inline ::testing::AssertionResult Same(const Elements& expected, const Elements& actual) {
  for (std::size_t i = 0; i < expected.count(); ++i) {
    const std::uint64_t a = expected.Bits(i);
    const std::uint64_t b = actual.Bits(i);
    if (a == b || (IsNan(expected.type(), a) && IsNan(actual.type(), b))) continue;
    return ::testing::AssertionFailure()
           << "element " << i << " of " << expected.count() << " (" << NameOf(expected.type())
           << "): expected bits 0x" << std::hex << a << ", got 0x" << b;
  }
  if (!actual.GuardsIntact()) {
    return ::testing::AssertionFailure() << "wrote outside of " << actual.count() << " elements";
  }
  return ::testing::AssertionSuccess();
}

// Runs each test once for each level; skips those this machine lacks.
class LevelTest : public ::testing::TestWithParam<cpu::Level> {
 protected:
  void SetUp() override {
    if (!cpu::ForceLevel(GetParam())) {
      GTEST_SKIP() << "this machine does not support " << cpu::NameOf(GetParam());
    }
  }
  void TearDown() override { cpu::ForceLevel(best_); }

 private:
  const cpu::Level best_ = cpu::ActiveLevel();
};

inline std::string LevelName(const ::testing::TestParamInfo<cpu::Level>& info) {
  return cpu::NameOf(info.param);
}

#define HVDX_TEST_LEVELS(Suite, ...) \
  INSTANTIATE_TEST_SUITE_P(Levels, Suite, ::testing::Values(__VA_ARGS__), LevelName)
#define HVDX_TEST_VECTOR_LEVELS(Suite) \
  HVDX_TEST_LEVELS(Suite, cpu::Level::kAvx2, cpu::Level::kAvx512)
#define HVDX_TEST_ALL_LEVELS(Suite) \
  HVDX_TEST_LEVELS(Suite, cpu::Level::kScalar, cpu::Level::kAvx2, cpu::Level::kAvx512)

}  // namespace horovodx::kernels
