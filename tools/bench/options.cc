#include "tools/bench/options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "tools/bench/pattern.h"

namespace horovodx::bench {

const char* const kHelp =
    R"(hvdx-bench: measures HorovodX with ranks that it starts itself on this machine.

  hvdx-bench [MODE] [OPTION...]

Modes
  allreduce    (default) blocking allreduce, by size
  small        a step of many small gradients: 1 to 16 KiB each
  resnet50     a step with the gradients of ResNet-50 (161 tensors, 25.6 million elements)
  bert         a step with the gradients of BERT-base (199 tensors, 109.5 million elements)
  --selection  the allreduce algorithm in force at each size, its predicted time, and why it is
               chosen: deterministic, override (HOROVODX_ALLREDUCE), flag, rule, measured, predicted

Options
  -np N               ranks on this host (2). Started by horovodrun, without -np, it measures
                      between that job's ranks
  --mpi               allreduce: compare with MPI_Allreduce, in the same processes, in turns; the
                      ranks are then started by mpirun, yielding when there are more of them than
                      cores
  --type T            float32 (default) float64 float16 bfloat16 int8 uint8 int32 int64
  --min S, --max S    smallest and largest size (4, 256M); S may end in K, M or G
  --factor F          from one size to the next (4)
  --iterations N      timed iterations a size (by size: 1000 down to 10)
  --rounds N          allreduce: over all sizes N times (1); medians are over all rounds
  --strict            exit with 1 if a ratio or the growth of memory is over its bar
  --steps N           small, resnet50, bert: timed steps (50)
  --warmup N          steps before that (20)
  --tensors N         small: tensors a step (1000)
  --backward-ms T     time over which a step's gradients become ready, last layer first (20)
  --sleep             the caller sleeps between gradients; without it, it computes (spins)
  --json FILE         write the results there too
  --help

How it measures
  allreduce: before each timed iteration new data is written and all ranks meet in a tiny allreduce.
  The time of an iteration is that of its slowest rank; the median over iterations is shown. A part
  of every result is checked after the clock has stopped, the whole result once a size. algbw is
  bytes/time; busbw is algbw*2(n-1)/n, as nccl-tests define them. With --mpi: ratio is our time over
  MPI's, then the project's bar for it. From 64 MiB on, 'limit' is 2*ranks*bytes over the memory
  bandwidth of all ranks copying at once: no allreduce in memory is faster than that.
  small, resnet50, bert: 'exposed' is the time from the last submission of a step until the last
  result, on the slowest rank: what training waits for. Control messages are those that the busiest
  rank sends and receives in a step, once steps repeat themselves.

Settings of the engine (HOROVOD_*, HOROVODX_*) are taken from the environment.

Examples
  hvdx-bench                                   two ranks, 4 B to 256 MiB
  hvdx-bench -np 4 --mpi                       four ranks, against MPI
  hvdx-bench --min 64M --max 64M --type float16
  hvdx-bench resnet50 -np 2 --backward-ms 40
  horovodrun -np 4 -H a:2,b:2 hvdx-bench       between two hosts
  HOROVODX_TRANSPORT=tcp hvdx-bench --max 16M  through TCP although on one host
  horovodrun -np 4 -H a:2,b:2 hvdx-bench --selection --max 16M
)";

bool ParseSize(const std::string& text, std::size_t& bytes) {
  char* end = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  const std::string unit(end);
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (shift < 0 || number > (std::uint64_t{1} << 40) >> shift) return false;
  bytes = static_cast<std::size_t>(number) << shift;
  return true;
}

namespace {

// Each option with a value says whether it could read it.
using Reader = std::function<bool(const std::string&)>;

Reader Count(std::size_t& field, std::size_t least) {
  return [&field, least](const std::string& text) {
    return ParseSize(text, field) && field >= least && field <= 1'000'000;
  };
}

Reader Size(std::size_t& field) {
  return [&field](const std::string& text) { return ParseSize(text, field) && field > 0; };
}

Reader Ranks(int& field) {
  return [&field](const std::string& text) {
    std::size_t number = 0;
    if (!ParseSize(text, number) || number < 1) return false;
    if (number > static_cast<std::size_t>(Pattern::MostRanks())) return false;
    field = static_cast<int>(number);
    return true;
  };
}

Reader Milliseconds(double& field) {
  return [&field](const std::string& text) {
    char* end = nullptr;
    field = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && std::isfinite(field) && field >= 0 && field <= 1e5;
  };
}

Reader Text(std::string& field) {
  return [&field](const std::string& text) {
    field = text;
    return !text.empty();
  };
}

std::string Contradiction(const Options& options) {
  const auto types = Pattern::Types();
  if (std::find(types.begin(), types.end(), options.type) == types.end()) {
    return "--type: '" + options.type + "' is not one of the types in --help";
  }
  const std::size_t element = Pattern(options.type, 1).element_size();
  if (options.min_bytes < element || options.min_bytes % element != 0) {
    return "--min must be a multiple of the element size, " + std::to_string(element);
  }
  if (options.min_bytes > options.max_bytes) return "--min is larger than --max";
  if (options.mpi && options.mode != "allreduce") return "--mpi compares allreduce only";
  return "";
}

}  // namespace

std::variant<Options, std::string> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  const std::map<std::string, Reader> with_value = {
      {"-np", Ranks(options.ranks)},
      {"--type", Text(options.type)},
      {"--min", Size(options.min_bytes)},
      {"--max", Size(options.max_bytes)},
      {"--factor", Count(options.factor, 2)},
      {"--iterations", Count(options.iterations, 1)},
      {"--rounds", Count(options.rounds, 1)},
      {"--steps", Count(options.steps, 1)},
      {"--warmup", Count(options.warmup, 0)},
      {"--tensors", Count(options.tensors, 1)},
      {"--backward-ms", Milliseconds(options.backward_ms)},
      {"--json", Text(options.json)},
  };
  const std::map<std::string, bool*> flags = {{"--mpi", &options.mpi},
                                              {"--sleep", &options.sleep},
                                              {"--strict", &options.strict},
                                              {"--help", &options.help},
                                              {"-h", &options.help}};
  const std::vector<std::string> modes = {"allreduce", "small", "resnet50", "bert"};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (const auto flag = flags.find(argument); flag != flags.end()) {
      *flag->second = true;
    } else if (const auto it = with_value.find(argument); it != with_value.end()) {
      if (i + 1 == arguments.size()) return argument + " needs a value";
      if (!it->second(arguments[++i])) return argument + ": cannot use '" + arguments[i] + "'";
    } else if (argument == "--selection") {
      options.mode = "selection";
    } else if (std::find(modes.begin(), modes.end(), argument) != modes.end()) {
      options.mode = argument;
    } else {
      return "no mode or option '" + argument + "'";
    }
  }
  if (const std::string wrong = Contradiction(options); !wrong.empty()) return wrong;
  return options;
}

}  // namespace horovodx::bench
