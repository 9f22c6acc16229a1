#include "horovodx/base/hmac.h"

#include <cstring>

namespace horovodx {
namespace {

using KeyBlock = std::array<std::byte, Sha256::kBlock>;

KeyBlock Masked(const KeyBlock& key, std::byte mask) {
  KeyBlock masked;
  for (std::size_t i = 0; i < key.size(); ++i) masked[i] = key[i] ^ mask;
  return masked;
}

}  // namespace

Digest HmacSha256(ConstBytes key, ConstBytes message) {
  KeyBlock block{};
  if (key.size() > block.size()) {
    const Digest shorter = Sha256Of(key);
    std::memcpy(block.data(), shorter.data(), shorter.size());
  } else if (!key.empty()) {
    std::memcpy(block.data(), key.data(), key.size());
  }
  Sha256 inner;
  inner.Update(Masked(block, std::byte{0x36}));
  inner.Update(message);
  Sha256 outer;
  outer.Update(Masked(block, std::byte{0x5c}));
  outer.Update(inner.Finish());
  return outer.Finish();
}

bool EqualInConstantTime(ConstBytes a, ConstBytes b) {
  if (a.size() != b.size()) return false;
  // Volatile, so that no compiler finds an early way out of the loop.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | static_cast<unsigned char>(a[i] ^ b[i]));
  }
  return difference == 0;
}

}  // namespace horovodx
