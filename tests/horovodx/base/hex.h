// Bytes written as hexadecimal digits, as published test vectors are.
#pragma once

#include <string>
#include <vector>

#include "horovodx/base/bytes.h"

namespace horovodx {

inline std::vector<std::byte> FromHex(const std::string& digits) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline std::string ToHex(ConstBytes bytes) {
  std::string digits;
  for (const std::byte byte : bytes) {
    digits += "0123456789abcdef"[static_cast<int>(byte) >> 4];
    digits += "0123456789abcdef"[static_cast<int>(byte) & 15];
  }
  return digits;
}

}  // namespace horovodx
