#include "horovodx/runtime/describe.h"

#include <cstdio>
#include <limits>
#include <vector>

#include "horovodx/collectives/selection_table.h"

namespace horovodx::runtime {
namespace {

constexpr auto kNoEnd = std::numeric_limits<std::size_t>::max();

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string LinkJson(const collectives::LinkCost& link) {
  return R"({"latency": )" + Number(link.latency) + R"(, "seconds_per_byte": )" +
         Number(link.seconds_per_byte) + "}";
}

std::string PointsJson(const std::vector<schedule::Point>& points) {
  std::string text;
  for (const schedule::Point& point : points) {
    text += (text.empty() ? "" : ", ") + (R"({"bytes": )" + Number(point.bytes)) +
            R"(, "seconds": )" + Number(point.seconds) + "}";
  }
  return "[" + text + "]";
}

std::string CostsJson(const KnownCosts& known) {
  std::string algorithms;
  for (const auto& [algorithm, fit] : known.choice.costs().by_algorithm()) {
    algorithms += (algorithms.empty() ? "\"" : ", \"") + std::string(NameOf(algorithm)) +
                  "\": " + PointsJson(fit.Points());
  }
  if (known.on_stage) algorithms = R"("staged": )" + PointsJson(known.meter.points());
  const auto& levels = known.choice.fitted().levels;
  const std::uint64_t samples =
      known.on_stage ? known.meter.samples() : known.choice.costs().samples();
  const bool links = known.choice.fits() > 0;
  return R"({"samples": )" + std::to_string(samples) + R"(, "levels": )" +
         (links
              ? R"({"host": )" + LinkJson(levels.host) + R"(, "net": )" + LinkJson(levels.net) + "}"
              : "null") +
         R"(, "algorithms": {)" + algorithms + "}}";
}

// A line of the table.
struct Row {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string algorithm;
  std::string why;
  double seconds = 0.0;
};

std::vector<Row> Rows(const KnownCosts& known) {
  std::vector<Row> rows;
  const bool measured = known.meter.samples() > 0;
  for (const auto& row : known.choice.Table()) {
    if (!known.on_stage || row.selected.why == collectives::Why::kOverride) {
      rows.push_back({row.begin, row.end, std::string(NameOf(row.selected.algorithm)),
                      std::string(NameOf(row.selected.why)), row.selected.seconds});
    } else if (!rows.empty() && rows.back().algorithm == "staged") {
      rows.back().end = row.end;
    } else {
      rows.push_back({row.begin, row.end, "staged", "one host",
                      measured ? known.meter.cost().Seconds(row.begin) : 0.0});
    }
  }
  return rows;
}

std::string SelectionJson(const KnownCosts& known) {
  std::string table;
  for (const Row& row : Rows(known)) {
    table += (table.empty() ? "" : ", ") + (R"({"from": )" + std::to_string(row.begin)) +
             R"(, "to": )" + (row.end == kNoEnd ? "null" : std::to_string(row.end)) +
             R"(, "algorithm": ")" + row.algorithm + R"(", "why": ")" + row.why +
             R"(", "seconds": )" + Number(row.seconds) + "}";
  }
  const std::uint64_t samples =
      known.on_stage ? known.meter.samples() : known.choice.costs().samples();
  return R"({"ranks": )" + std::to_string(known.choice.team().ranks) + R"(, "hosts": )" +
         std::to_string(known.choice.team().hosts) + R"(, "on_stage": )" +
         (known.on_stage ? "true" : "false") + R"(, "samples": )" + std::to_string(samples) +
         R"(, "table": [)" + table + "]}";
}

std::string SizeText(std::size_t bytes) {
  if (bytes == kNoEnd) return "-";
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, kUnits[unit]);
  return text;
}

std::string Line(const std::string& from, const std::string& to, const std::string& algorithm,
                 const std::string& predicted, const std::string& why) {
  char text[160];
  std::snprintf(text, sizeof text, "%10s  %10s  %-26s  %12s  %s\n", from.c_str(), to.c_str(),
                algorithm.c_str(), predicted.c_str(), why.c_str());
  return text;
}

std::string SelectionText(const KnownCosts& known) {
  std::string text = Line("from", "to", "algorithm", "predicted", "why");
  for (const Row& row : Rows(known)) {
    text += Line(SizeText(row.begin), SizeText(row.end), row.algorithm,
                 row.seconds > 0.0 ? Number(1e6 * row.seconds) + " us" : "-",
                 row.why == "one host" ? "one host: through memory its ranks share" : row.why);
  }
  if (known.choice.fits() > 0)
    text += "links: " + schedule::Describe(known.choice.fitted().levels) + "\n";
  return text;
}

}  // namespace

std::string Describe(const std::string& what, const KnownCosts& known) {
  if (what == "allreduce_selection") return SelectionJson(known);
  if (what == "allreduce_selection_table") return SelectionText(known);
  if (what == "allreduce_costs") return CostsJson(known);
  return "";
}

}  // namespace horovodx::runtime
