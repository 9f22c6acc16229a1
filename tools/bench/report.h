// Report: results as JSON, for --json. One object with the settings and a list of rows.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace horovodx::bench {

class Report {
 public:
  // Names and words are ours: nothing in them needs escaping.
  void Setting(const std::string& name, const std::string& word);
  void Setting(const std::string& name, double number);
  using Row = std::vector<std::pair<std::string, double>>;
  void Add(Row row) { rows_.push_back(std::move(row)); }

  std::string Json() const;
  // False if the file cannot be written.
  bool Write(const std::string& path) const;

 private:
  std::vector<std::pair<std::string, std::string>> settings_;
  std::vector<Row> rows_;
};

}  // namespace horovodx::bench
