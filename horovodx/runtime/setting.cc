#include "horovodx/runtime/setting.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "horovodx/base/hex.h"
#include "horovodx/collectives/segment.h"

namespace horovodx::runtime {
namespace {

constexpr std::size_t kLongestText = 4096;
// Longer times overflow the clock's count when added to now().
constexpr double kLongestSeconds = 1e9;

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string Join(std::initializer_list<const char*> words) {
  std::string all;
  for (const char* word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  return "one of " + all;
}

}  // namespace

std::optional<std::int64_t> ParseInteger(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (errno != 0 || end != text.c_str() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> ParseNumber(const std::string& text) {
  if (text.empty()) return std::nullopt;
  // Not strtod: that follows the locale, and frameworks set one.
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  double number = 0;
  if (!(in >> number) || in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

Setting SecondsOf(Duration Config::*field, bool zero_allowed) {
  return {zero_allowed ? "a number of seconds, 0 or more" : "a positive number of seconds",
          [=](Config& config, const std::string& text) {
            const auto number = ParseNumber(text);
            if (!number || *number < 0 || *number > kLongestSeconds) return false;
            if (*number == 0 && !zero_allowed) return false;
            config.*field = Seconds(*number);
            return true;
          }};
}

Setting Flag(bool Config::*field) {
  return {"0 or 1", [=](Config& config, const std::string& text) {
            const auto number = ParseInteger(text);
            if (number) config.*field = *number > 0;
            return number.has_value();
          }};
}

Setting InverseFlag(bool Config::*field) {
  return {"0 or 1", [=](Config& config, const std::string& text) {
            const auto number = ParseInteger(text);
            if (number) config.*field = *number <= 0;
            return number.has_value();
          }};
}

Setting StrictFlag(bool Config::*field) {
  return {"0 or 1", [=](Config& config, const std::string& text) {
            if (text != "0" && text != "1") return false;
            config.*field = text == "1";
            return true;
          }};
}

Setting Text(std::string Config::*field) {
  return {"printable text of at most 4096 bytes", [=](Config& config, const std::string& text) {
            const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
            if (text.size() > kLongestText || std::any_of(text.begin(), text.end(), control)) {
              return false;
            }
            config.*field = text;
            return true;
          }};
}

Setting OneOf(std::string Config::*field, std::initializer_list<const char*> words,
              std::string expected) {
  if (expected.empty()) expected = Join(words);
  return {std::move(expected), [field, list = std::vector<std::string>(words.begin(), words.end())](
                                   Config& config, const std::string& text) {
            const std::string word = LowerCase(text);
            if (std::find(list.begin(), list.end(), word) == list.end()) return false;
            config.*field = word;
            return true;
          }};
}

Setting Segment(std::uint32_t Config::*field) {
  return {
      "a power of two from 65536 to 2097152", [=](Config& config, const std::string& text) {
        const auto number = ParseInteger(text);
        if (!number || *number <= 0 || !collectives::IsSegment(static_cast<std::size_t>(*number))) {
          return false;
        }
        config.*field = static_cast<std::uint32_t>(*number);
        return true;
      }};
}

Setting HexSecret(std::string Config::*field) {
  return {"64 hexadecimal digits", [=](Config& config, const std::string& text) {
            const auto bytes = BytesFromHex(text);
            if (!bytes || bytes->size() != 32) return false;
            config.*field = *bytes;
            return true;
          }};
}

Setting Cores(std::vector<int> Config::*field) {
  return {"core numbers separated by commas", [=](Config& config, const std::string& text) {
            std::vector<int> cores;
            std::istringstream in(text + ",");
            for (std::string entry; std::getline(in, entry, ',');) {
              const auto number = ParseInteger(entry);
              if (!number || *number < 0 || *number > 1'000'000) return false;
              cores.push_back(static_cast<int>(*number));
            }
            config.*field = std::move(cores);
            return true;
          }};
}

Setting HostOfEachRank(std::vector<std::string> Config::*field) {
  return {"hosts and their ranks: name:ranks,...", [=](Config& config, const std::string& text) {
            std::vector<std::string> hosts;
            std::istringstream in(text + ",");
            for (std::string entry; std::getline(in, entry, ',');) {
              const std::size_t colon = entry.rfind(':');
              if (colon == std::string::npos || colon == 0) return false;
              const auto ranks = ParseInteger(entry.substr(colon + 1));
              if (!ranks || *ranks < 1 || *ranks > 1'000'000) return false;
              hosts.insert(hosts.end(), static_cast<std::size_t>(*ranks), entry.substr(0, colon));
            }
            config.*field = std::move(hosts);
            return true;
          }};
}

Setting Level() {
  return {"one of trace, debug, info, warning, error, fatal",
          [](Config& config, const std::string& text) {
            const char* const names[] = {"trace", "debug", "info", "warning", "error", "fatal"};
            const auto* const end = std::end(names);
            const auto* const found = std::find(std::begin(names), end, LowerCase(text));
            if (found == end) return false;
            config.log.level = static_cast<LogLevel>(found - std::begin(names));
            return true;
          }};
}

Setting HideTime() {
  return {"0 or 1", [](Config& config, const std::string& text) {
            const auto number = ParseInteger(text);
            if (number) config.log.hide_time = *number > 0;
            return number.has_value();
          }};
}

}  // namespace horovodx::runtime
