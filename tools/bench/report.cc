#include "tools/bench/report.h"

#include <cstdio>
#include <fstream>

namespace horovodx::bench {
namespace {

std::string NumberText(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", number);
  return text;
}

}  // namespace

void Report::Setting(const std::string& name, const std::string& word) {
  settings_.emplace_back(name, "\"" + word + "\"");
}

void Report::Setting(const std::string& name, double number) {
  settings_.emplace_back(name, NumberText(number));
}

std::string Report::Json() const {
  std::string out = "{";
  for (const auto& [name, value] : settings_) out += "\"" + name + "\": " + value + ", ";
  out += "\"rows\": [";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    out += i == 0 ? "\n  {" : ",\n  {";
    for (std::size_t j = 0; j < rows_[i].size(); ++j) {
      out += j == 0 ? "\"" : ", \"";
      out += rows_[i][j].first + "\": " + NumberText(rows_[i][j].second);
    }
    out += "}";
  }
  return out + "\n]}\n";
}

bool Report::Write(const std::string& path) const {
  std::ofstream file(path);
  file << Json();
  file.close();
  return !file.fail();
}

}  // namespace horovodx::bench
