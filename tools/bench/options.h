// What hvdx-bench was asked to do.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace horovodx::bench {

struct Options {
  std::string mode = "allreduce";  // or "small", "resnet50", "bert", "selection"
  int ranks = 0;                   // 0: those of the job this runs in, else two
  bool mpi = false;
  std::string type = "float32";
  std::size_t min_bytes = 4;
  std::size_t max_bytes = std::size_t{256} << 20;
  std::size_t factor = 4;
  std::size_t iterations = 0;  // 0: by size
  std::size_t rounds = 1;      // over all sizes
  std::size_t steps = 50;      // of the training modes
  std::size_t warmup = 20;     // steps before that
  std::size_t tensors = 1000;  // of `small`
  double backward_ms = 20;
  bool sleep = false;   // between submissions, instead of computing
  std::string json;     // file, or empty
  bool strict = false;  // what is over its bar is a failure
  bool help = false;
};

// The options, or what is wrong with the arguments.
std::variant<Options, std::string> ParseOptions(const std::vector<std::string>& arguments);
// "64K", "1M", "4".
bool ParseSize(const std::string& text, std::size_t& bytes);
extern const char* const kHelp;

}  // namespace horovodx::bench
