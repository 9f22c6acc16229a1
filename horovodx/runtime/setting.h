// Settings: how the text of a variable becomes a field of Config. Pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

#include "horovodx/runtime/config.h"

namespace horovodx::runtime {

// `set` returns false, and leaves the field alone, if the text is not what is `expected`.
struct Setting {
  std::string expected;
  std::function<bool(Config&, const std::string&)> set;
};

// The whole text must be the number.
std::optional<std::int64_t> ParseInteger(const std::string& text);
std::optional<double> ParseNumber(const std::string& text);

// An integer in [least, most]; the field is any integer type, or an optional of one.
template <typename Field>
Setting Integer(Field Config::*field, std::int64_t least,
                std::int64_t most = std::numeric_limits<std::int32_t>::max()) {
  return {"a whole number from " + std::to_string(least) + " to " + std::to_string(most),
          [=](Config& config, const std::string& text) {
            const auto number = ParseInteger(text);
            if (!number || *number < least || *number > most) return false;
            config.*field = static_cast<Field>(*number);
            return true;
          }};
}

// A finite number not below `least`; the field is a double or an optional of one.
template <typename Field>
Setting Number(Field Config::*field, double least) {
  return {least > 0 ? "a positive number" : "a number, 0 or more",
          [=](Config& config, const std::string& text) {
            const auto number = ParseNumber(text);
            if (!number || *number < least) return false;
            config.*field = *number;
            return true;
          }};
}

// A length of time in seconds, fractions allowed.
Setting SecondsOf(Duration Config::*field, bool zero_allowed);

// On when the number is above 0 (`Flag`), or when it is 0 (`InverseFlag`), as Horovod reads flags.
Setting Flag(bool Config::*field);
Setting InverseFlag(bool Config::*field);
// Our own flags are 0 or 1 and nothing else.
Setting StrictFlag(bool Config::*field);

// Any text without control characters, of at most 4096 bytes.
Setting Text(std::string Config::*field);
// One of some words, in either case; kept in lower case. `expected` may say it in other words.
Setting OneOf(std::string Config::*field, std::initializer_list<const char*> words,
              std::string expected = "");

// A power of two, in the bounds of collectives/segment.h.
Setting Segment(std::uint32_t Config::*field);
// 64 hexadecimal digits; kept as 32 bytes.
Setting HexSecret(std::string Config::*field);
// A comma list of core numbers.
Setting Cores(std::vector<int> Config::*field);
// "node1:4,node2:4" as the host of each rank.
Setting HostOfEachRank(std::vector<std::string> Config::*field);
// trace, debug, info, warning, error or fatal.
Setting Level();
Setting HideTime();

}  // namespace horovodx::runtime
