// How the scalar kernels see one element: what memory holds and what is computed with.
//
// A format F has F::Stored (in memory) and F::Work (in which sums, products and comparisons are
// made), and F::Load and F::Store between the two. Memory need not be aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/half.h"

namespace horovodx::kernels::cpu {

template <class T>
struct PlainElement {
  using Stored = T;
  using Work = T;
  static Work Load(Stored stored) { return stored; }
  static Stored Store(Work work) { return work; }
};

struct BoolElement {
  using Stored = std::uint8_t;  // not bool: a byte from outside may hold more than 0 and 1
  using Work = bool;
  static Work Load(Stored stored) { return stored != 0; }
  static Stored Store(Work work) { return work ? 1 : 0; }
};

struct Float16Element {
  using Stored = std::uint16_t;
  using Work = float;
  static Work Load(Stored stored) { return FloatFromFloat16(stored); }
  static Stored Store(Work work) { return Float16FromFloat(work); }
};

struct Bfloat16Element {
  using Stored = std::uint16_t;
  using Work = float;
  static Work Load(Stored stored) { return FloatFromBfloat16(stored); }
  static Stored Store(Work work) { return Bfloat16FromFloat(work); }
};

template <class Format>
typename Format::Work LoadElement(const void* from, std::size_t index) {
  typename Format::Stored stored;
  std::memcpy(&stored, static_cast<const std::byte*>(from) + index * sizeof(stored),
              sizeof(stored));
  return Format::Load(stored);
}

template <class Format>
void StoreElement(void* to, std::size_t index, typename Format::Work work) {
  const typename Format::Stored stored = Format::Store(work);
  std::memcpy(static_cast<std::byte*>(to) + index * sizeof(stored), &stored, sizeof(stored));
}

}  // namespace horovodx::kernels::cpu
