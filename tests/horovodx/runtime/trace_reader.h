// Reads a trace file back with Python's JSON reader, which is strict about what it accepts.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace horovodx::runtime {

// One line for each record: its keys in alphabetical order, without the fields that differ from run
// to run ("ts", and the start time). A file that is not a JSON array of objects gives the one line
// "broken: ...".
inline std::vector<std::string> ReadTrace(const std::string& path) {
  const std::string script = R"PY(
import json, sys
try:
    for record in json.load(open(sys.argv[1], encoding="utf-8")):
        record.pop("ts", None)
        record.get("args", {}).pop("start_time_since_epoch_in_micros", None)
        print(json.dumps(record, sort_keys=True, separators=(",", ":")))
except Exception as error:
    print("broken:", repr(error))
)PY";
  const std::string command = "python3 -c '" + script + "' '" + path + "'";
  std::vector<std::string> lines;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {"broken: no python3"};
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else {
      lines.push_back(line);
      line.clear();
    }
  }
  if (::pclose(pipe) != 0) lines.emplace_back("broken: python3 failed");
  return lines;
}

}  // namespace horovodx::runtime
