// The parser of HOROVODX_ALLREDUCE.
#include <charconv>
#include <string>

#include "horovodx/collectives/select.h"

namespace horovodx::collectives {
namespace {

Status BadPart(std::string_view part, const std::string& why) {
  return Status::InvalidArgument("allreduce rule '" + std::string(part) + "': " + why);
}

std::string KnownNames() {
  std::string names;
  for (auto algorithm : AllAllreduceAlgorithms()) {
    if (!names.empty()) names += ", ";
    names += NameOf(algorithm);
  }
  return names;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// What stands before `mark`, which is cut off `text` together with it.
std::string_view CutBefore(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  const std::string_view before = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return Trim(before);
}

std::optional<int> ShiftOf(std::string_view unit) {
  if (unit.empty()) return 0;
  if (unit == "K") return 10;
  if (unit == "M") return 20;
  if (unit == "G") return 30;
  return std::nullopt;
}

std::optional<std::size_t> ParseSize(std::string_view text) {
  constexpr auto kMost = std::numeric_limits<std::size_t>::max();
  text = Trim(text);
  if (text == "max") return kMost;
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const auto shift = ShiftOf(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  if (error != std::errc() || !shift || number > (kMost >> *shift)) return std::nullopt;
  return number << *shift;
}

Result<AllreduceRule> ParseRule(std::string_view part) {
  std::string_view range = part;
  const std::string_view name = CutBefore(range, ':');
  AllreduceRule rule;
  const auto algorithm = AllreduceNamed(name);
  if (!algorithm) {
    return BadPart(part, "no algorithm '" + std::string(name) + "'; there are " + KnownNames());
  }
  rule.algorithm = *algorithm;
  if (part.find(':') == std::string_view::npos) return rule;
  if (range.find('-') == std::string_view::npos) return BadPart(part, "a range is begin-end");
  for (std::size_t* limit : {&rule.begin, &rule.end}) {
    const std::string_view text = limit == &rule.begin ? CutBefore(range, '-') : Trim(range);
    const auto size = ParseSize(text);
    if (!size) return BadPart(part, std::string(text) + " is no size (a number, with K, M or G)");
    *limit = *size;
  }
  if (rule.begin >= rule.end) return BadPart(part, "the range is empty");
  return rule;
}

}  // namespace

Result<std::vector<AllreduceRule>> ParseAllreduceRules(std::string_view text) {
  std::vector<AllreduceRule> rules;
  while (!text.empty()) {
    const std::string_view part = CutBefore(text, ';');
    if (part.empty()) continue;
    HVDX_ASSIGN_OR_RETURN(auto rule, ParseRule(part));
    rules.push_back(rule);
  }
  return rules;
}

}  // namespace horovodx::collectives
