// float16 and bfloat16 to float32 and back, by bits.
//
// Rounding is to nearest even. NaN stays NaN: it becomes quiet and keeps the top of its payload,
// exactly as the processor's own conversion does.
#pragma once

#include <bit>
#include <cstdint>

namespace horovodx::kernels::cpu {

inline float FloatFromBfloat16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

inline std::uint16_t Bfloat16FromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t quiet_nan = (bits >> 16) | 0x40u;
  // Just under half of the last place, plus one if that place is odd: ties go to even.
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>(value != value ? quiet_nan : rounded);
}

inline float FloatFromFloat16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) {
    const std::uint32_t quiet = fraction != 0 ? 0x00400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (fraction << 13));
  }
  if (exponent == 0) {  // zero or denormal: fraction units of 2^-24, exact in float32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

inline std::uint16_t Float16FromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000u) {  // NaN
    result = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
  } else if (magnitude >= 0x477ff000u) {  // from 65520 on: the nearest is infinity
    result = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // normal; a carry out of the fraction is right as it is
    const std::uint32_t rebased = magnitude - (112u << 23);
    result = (rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13;
  } else {
    // Denormal: adding 0.5 leaves the last place of float32 at 2^-24, so the addition rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
  }
  return static_cast<std::uint16_t>(sign | result);
}

// A float32 from which rounding to 16 bits gives what rounding `value` at once would: inexact
// results get an odd last bit, so they are never mistaken for a tie.
inline float RoundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const double back = nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool inexact = back != value && value == value;
  if (!inexact || (bits & 1u) != 0) return nearest;
  const bool too_small = (back < 0 ? -back : back) < (value < 0 ? -value : value);
  bits += too_small ? 1u : ~0u;
  return std::bit_cast<float>(bits);
}

}  // namespace horovodx::kernels::cpu
