// What a collective costs, counted: the formulas that tests hold the algorithms to and that cost
// models are made of. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace horovodx::collectives {

// Chunks are taken to be of equal size, which they are up to one element.
struct Cost {
  // Of the longest chain of messages that wait for one another: how many, and how many bytes. With
  // a seconds a message and b seconds a byte the whole takes about steps * a + path_bytes * b.
  std::uint64_t steps = 0;
  double path_bytes = 0;
  // Sent by the rank that sends most.
  std::uint64_t messages = 0;
  double bytes = 0;

  friend constexpr Cost operator+(const Cost& x, const Cost& y) {
    return {x.steps + y.steps, x.path_bytes + y.path_bytes, x.messages + y.messages,
            x.bytes + y.bytes};
  }
};

// How many stretches of `most` bytes; at least one, since empty messages are sent too.
constexpr std::uint64_t CountOf(std::size_t bytes, std::size_t most) {
  return bytes == 0 ? 1 : (bytes - 1) / most + 1;
}

// part / whole of the bytes.
constexpr double Share(std::size_t bytes, int part, int whole) {
  return static_cast<double>(bytes) * part / whole;
}

}  // namespace horovodx::collectives
