// Vectors of any width, and how elements of each type travel between memory and a vector.
//
// The code is written once, with the vector types that gcc and clang share, for an instruction set
// `Isa` that says how many bytes a register has (Isa::kBytes). Files compiled for AVX2 or AVX-512
// must not give the linker a function that it could choose for the whole program, so:
// - Isa is a type of the including file's anonymous namespace and everything here is a template
//   over it: what is made from it is private to that file;
// - nothing with a body from the standard library is used (tests/kernels/private_symbols.cmake
//   looks at the object files).
//
// Memory need not be aligned: it is read and written by memcpy, which becomes one instruction.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace horovodx::kernels::cpu {

template <class Isa, class T, int kWidth>
struct VectorOf {
  using Type [[gnu::vector_size(sizeof(T) * kWidth)]] = T;
};

// kWidth elements of T.
template <class Isa, class T, int kWidth>
using Vector = typename VectorOf<Isa, T, kWidth>::Type;

template <class Isa, class V>
struct Memory {
  static V Load(const std::byte* from) {
    V vector;
    std::memcpy(&vector, from, sizeof(V));
    return vector;
  }
  static void Store(std::byte* to, V vector) { std::memcpy(to, &vector, sizeof(V)); }
};

// A format has kWidth elements of kBytes together in memory, and computes with a Vector of Work.
template <class Isa, class T, int kElements>
struct PlainFormat {
  using Work = T;
  using Vec = Vector<Isa, T, kElements>;
  static constexpr int kWidth = kElements;
  static constexpr std::size_t kBytes = sizeof(Vec);
  static Vec Load(const std::byte* from) { return Memory<Isa, Vec>::Load(from); }
  static void Store(std::byte* to, Vec vector) { Memory<Isa, Vec>::Store(to, vector); }
};

// Any byte but 0 is true and becomes 1.
template <class Isa, int kElements>
struct BoolFormat {
  using Work = std::uint8_t;
  using Vec = Vector<Isa, std::uint8_t, kElements>;
  static constexpr int kWidth = kElements;
  static constexpr std::size_t kBytes = sizeof(Vec);
  static Vec Load(const std::byte* from) {
    const Vec vector = Memory<Isa, Vec>::Load(from);
    const Vec one = Vec{} + 1;
    return vector < one ? vector : one;
  }
  static void Store(std::byte* to, Vec vector) { Memory<Isa, Vec>::Store(to, vector); }
};

// The steps from 16 to 32 bits and back for which the shared vector types compile to poor code, by
// hand for each width: float16 to float32 in one instruction, and 16-bit integers to 32-bit ones.
template <class Isa, int kWidth>
struct SixteenBits;

template <class Isa>
struct SixteenBits<Isa, 4> {
  static __m128i Load(const std::byte* from) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  }
  static __m128i Widen(const std::byte* from) { return _mm_cvtepu16_epi32(Load(from)); }
  static __m128 ToFloat(const std::byte* from) { return _mm_cvtph_ps(Load(from)); }
  static void Narrow(std::byte* to, __m128i bits) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(bits, bits));
  }
  static void FromFloat(std::byte* to, __m128 vector) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to),
                     _mm_cvtps_ph(vector, _MM_FROUND_TO_NEAREST_INT));
  }
};

template <class Isa>
struct SixteenBits<Isa, 8> {
  static __m128i Load(const std::byte* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  static __m256i Widen(const std::byte* from) { return _mm256_cvtepu16_epi32(Load(from)); }
  static __m256 ToFloat(const std::byte* from) { return _mm256_cvtph_ps(Load(from)); }
  static void Narrow(std::byte* to, __m256i bits) {
    const __m128i low = _mm256_castsi256_si128(bits);
    const __m128i high = _mm256_extracti128_si256(bits, 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(low, high));
  }
  static void FromFloat(std::byte* to, __m256 vector) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(vector, _MM_FROUND_TO_NEAREST_INT));
  }
};

#ifdef __AVX512F__
template <class Isa>
struct SixteenBits<Isa, 16> {
  static __m256i Load(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static __m512i Widen(const std::byte* from) { return _mm512_cvtepu16_epi32(Load(from)); }
  static __m512 ToFloat(const std::byte* from) { return _mm512_cvtph_ps(Load(from)); }
  static void Narrow(std::byte* to, __m512i bits) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(bits));
  }
  static void FromFloat(std::byte* to, __m512 vector) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(vector, _MM_FROUND_TO_NEAREST_INT));
  }
};
#endif

template <class Isa, int kElements>
struct Bfloat16Format {
  using Work = float;
  using Vec = Vector<Isa, float, kElements>;
  using Bits = Vector<Isa, std::uint32_t, kElements>;
  static constexpr int kWidth = kElements;
  static constexpr std::size_t kBytes = 2 * kElements;
  static Vec Load(const std::byte* from) {
    const Bits bits = reinterpret_cast<Bits>(SixteenBits<Isa, kElements>::Widen(from));
    return reinterpret_cast<Vec>(bits << 16);
  }
  // As Bfloat16FromFloat in half.h.
  static void Store(std::byte* to, Vec vector) {
    using Raw = decltype(SixteenBits<Isa, kElements>::Widen(to));
    const Bits bits = reinterpret_cast<Bits>(vector);
    const Bits quiet_nan = (bits >> 16) | 0x40u;
    const Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const Bits result = vector != vector ? quiet_nan : rounded;
    SixteenBits<Isa, kElements>::Narrow(to, reinterpret_cast<Raw>(result));
  }
};

template <class Isa, int kElements>
struct Float16Format {
  using Work = float;
  using Vec = Vector<Isa, float, kElements>;
  static constexpr int kWidth = kElements;
  static constexpr std::size_t kBytes = 2 * kElements;
  static Vec Load(const std::byte* from) { return SixteenBits<Isa, kElements>::ToFloat(from); }
  static void Store(std::byte* to, Vec vector) {
    SixteenBits<Isa, kElements>::FromFloat(to, vector);
  }
};

}  // namespace horovodx::kernels::cpu
