// What StoreClient and StoreServer say to each other; README.md has it byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace horovodx::rendezvous {

inline constexpr std::size_t kMostKeyBytes = 1024;
inline constexpr std::size_t kMostValueBytes = 1 << 20;

// Tags of frames. Numbers stay as they are.
enum class StoreTag : std::uint32_t {
  kSet = 1,      // u32 size of the key, key, value
  kGet = 2,      // u32 milliseconds to wait, key
  kForget = 3,   // what keys begin with, to the end
  kDone = 16,    // answer to Set and Forget; empty
  kValue = 17,   // answer to Get: the value
  kAbsent = 18,  // answer to Get: nobody set the key in time; empty
};

inline constexpr std::size_t kMostRequestBytes = 4 + kMostKeyBytes + kMostValueBytes;

}  // namespace horovodx::rendezvous
