// Numbers both sides of the wire format know.
#pragma once

#include <cstddef>
#include <cstdint>

namespace horovodx::negotiation {

inline constexpr std::uint16_t kWireMagic = 0x5848;  // "HX"
inline constexpr std::uint8_t kWireUp = 1;
inline constexpr std::uint8_t kWireDown = 2;

// The fewest bytes each can have: what is fixed, with all texts and lists empty.
inline constexpr std::size_t kLeastRequest = 3 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + 4;
inline constexpr std::size_t kLeastEntry = 4 + 8 + 4 + 4;
inline constexpr std::size_t kLeastBucket = 3 + 4 + 4 + 8 + 8 + 4 + 1 + 4 + 4 + 4 + 4 + 1;
inline constexpr std::size_t kLeastRecord = 4 + 1;

}  // namespace horovodx::negotiation
