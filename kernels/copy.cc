#include "kernels/copy.h"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace horovodx::kernels {

#ifdef __SSE2__
namespace {

constexpr std::size_t kLine = 64;

struct Line {
  __m128i a, b, c, d;
};

Line Load(const std::byte* from) {
  const auto* at = reinterpret_cast<const __m128i*>(from);
  return {_mm_loadu_si128(at), _mm_loadu_si128(at + 1), _mm_loadu_si128(at + 2),
          _mm_loadu_si128(at + 3)};
}

void Store(std::byte* to, const Line& line) {
  auto* at = reinterpret_cast<__m128i*>(to);
  _mm_storeu_si128(at, line.a);
  _mm_storeu_si128(at + 1, line.b);
  _mm_storeu_si128(at + 2, line.c);
  _mm_storeu_si128(at + 3, line.d);
}

// To an aligned line.
void Stream(std::byte* to, const Line& line) {
  auto* at = reinterpret_cast<__m128i*>(to);
  _mm_stream_si128(at, line.a);
  _mm_stream_si128(at + 1, line.b);
  _mm_stream_si128(at + 2, line.c);
  _mm_stream_si128(at + 3, line.d);
}

}  // namespace

void Copy(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  for (; bytes >= kLine; bytes -= kLine, out += kLine, in += kLine) Store(out, Load(in));
  if (bytes > 0) std::memcpy(out, in, bytes);
}

void CopyStreaming(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % kLine;
  if (bytes < head + kLine) return Copy(to, from, bytes);
  if (head > 0) std::memcpy(out, in, head);
  out += head;
  in += head;
  for (bytes -= head; bytes >= kLine; bytes -= kLine, out += kLine, in += kLine) {
    Stream(out, Load(in));
  }
  if (bytes > 0) std::memcpy(out, in, bytes);
}

void EndStreaming() { _mm_sfence(); }

#else

void Copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void CopyStreaming(void* to, const void* from, std::size_t bytes) { Copy(to, from, bytes); }
void EndStreaming() {}

#endif

}  // namespace horovodx::kernels
