// SHA-256 (FIPS 180-4). Our own, because the library links nothing but libc and libstdc++.
//
// Only handshakes use it: a few hundred bytes each, so it is written to be read, not to be fast.
// Thread: one at a time per object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "horovodx/base/bytes.h"

namespace horovodx {

using Digest = std::array<std::byte, 32>;

class Sha256 {
 public:
  static constexpr std::size_t kBlock = 64;

  void Update(ConstBytes bytes);
  // The digest of everything so far. The object is used up.
  Digest Finish();

 private:
  void Compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlock> block_{};
  std::uint64_t size_ = 0;  // bytes taken so far
};

Digest Sha256Of(ConstBytes bytes);

}  // namespace horovodx
