// What autotuning has tried, as lines of a file and of the log.
//
// Thread: whoever drives the engine. A line is written when a setting has its score, which takes
// dozens of steps: nobody waits for the disk for long.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "horovodx/tuning/search.h"

namespace horovodx::runtime {

class TuningLog {
 public:
  // `path` is truncated; empty: no file. A file that cannot be written is an error in the log, and
  // tuning goes on without it.
  TuningLog(const std::string& path, bool cache_enabled);

  void Add(const tuning::Tried& tried);

 private:
  void Write(const std::string& line);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  const std::string path_;
  const bool cache_enabled_;
};

}  // namespace horovodx::runtime
