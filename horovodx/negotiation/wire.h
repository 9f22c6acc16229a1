// Messages as bytes. README.md has the format, byte by byte. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

inline constexpr std::uint8_t kWireVersion = 4;

std::vector<std::byte> Encode(const std::vector<UpRecord>& records);
std::vector<std::byte> Encode(const std::vector<DownRecord>& records);

// The records, or what is wrong with the bytes and where. Nothing is allocated for a count before
// as many bytes as it needs are known to be there. What decodes encodes to the same bytes again.
Result<std::vector<UpRecord>> DecodeUp(ConstBytes bytes);
Result<std::vector<DownRecord>> DecodeDown(ConstBytes bytes);

}  // namespace horovodx::negotiation
