#include "horovodx/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace horovodx {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t LoadBig(const std::byte* p) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | static_cast<std::uint32_t>(p[i]);
  return word;
}

void StoreBig(std::uint64_t word, int bytes, std::byte* p) {
  for (int i = 0; i < bytes; ++i) p[i] = static_cast<std::byte>(word >> (8 * (bytes - 1 - i)));
}

}  // namespace

void Sha256::Compress(const std::byte* block) {
  std::uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = LoadBig(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t x = w[t - 15], y = w[t - 2];
    const std::uint32_t s0 = std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3);
    const std::uint32_t s1 = std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t big1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + big1 + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
    const std::uint32_t big0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = big0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += sums[i];
}

void Sha256::Update(ConstBytes bytes) {
  while (!bytes.empty()) {
    const std::size_t used = size_ % kBlock;
    const std::size_t take = std::min(kBlock - used, bytes.size());
    std::memcpy(block_.data() + used, bytes.data(), take);
    size_ += take;
    if (used + take == kBlock) Compress(block_.data());
    bytes = bytes.subspan(take);
  }
}

Digest Sha256::Finish() {
  const std::uint64_t bits = size_ * 8;
  static constexpr std::array<std::byte, kBlock> kPadding = {std::byte{0x80}};
  // A one bit, then zeros up to eight bytes before the end of a block, then the length.
  const std::size_t used = size_ % kBlock;
  const std::size_t padding = (used < kBlock - 8 ? kBlock : 2 * kBlock) - 8 - used;
  Update(ConstBytes(kPadding).first(std::min(padding, kBlock)));
  if (padding > kBlock) Update(ConstBytes(kPadding).subspan(1, padding - kBlock));
  std::array<std::byte, 8> length;
  StoreBig(bits, 8, length.data());
  Update(length);
  Digest digest;
  for (int i = 0; i < 8; ++i) StoreBig(state_[i], 4, digest.data() + 4 * i);
  return digest;
}

Digest Sha256Of(ConstBytes bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

}  // namespace horovodx
