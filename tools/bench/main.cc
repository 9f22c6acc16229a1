// hvdx-bench: see --help (options.cc).
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tools/bench/allreduce_mode.h"
#include "tools/bench/launch.h"
#include "tools/bench/selection_mode.h"
#include "tools/bench/training_mode.h"

namespace horovodx::bench {
namespace {

Model ModelOf(const Options& options) {
  if (options.mode == "resnet50") return ResNet50();
  if (options.mode == "bert") return BertBase();
  return ManySmall(options.tensors);
}

int RunRank(const Options& options) {
  std::string why;
  // MPI first: it looks at the process before other threads run in it.
  const std::unique_ptr<Mpi> mpi = options.mpi ? Mpi::Load(why) : nullptr;
  if (options.mpi && mpi == nullptr) Fail("cannot load MPI: " + why);
  Engine engine;
  Report report;
  report.Setting("mode", options.mode);
  report.Setting("ranks", engine.size());
  report.Setting("type", options.type);
  report.Setting("cores", std::thread::hardware_concurrency());
  if (engine.rank() == 0) {
    std::printf("%d ranks on %u cores, %s, summing %s\n", engine.size(),
                std::thread::hardware_concurrency(), options.mode.c_str(), options.type.c_str());
  }
  int code = 0;
  if (options.mode == "selection") {
    RunSelectionMode(options, engine);
    engine.Meet();
    return 0;
  }
  if (options.mode == "allreduce") {
    code = RunAllreduceMode(options, engine, mpi.get(), report);
  } else {
    RunTrainingMode(options, ModelOf(options), engine, report);
  }
  if (engine.rank() == 0 && !options.json.empty() && !report.Write(options.json)) {
    Fail("cannot write '" + options.json + "'");
  }
  engine.Meet();
  return code;
}

int Main(const std::vector<std::string>& arguments) {
  auto parsed = ParseOptions(arguments);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    std::fprintf(stderr, "hvdx-bench: %s (--help shows how it is used)\n", wrong->c_str());
    return 2;
  }
  auto options = std::get<Options>(parsed);
  if (options.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (options.mpi && !Mpi::Built()) {
    std::fprintf(stderr, "hvdx-bench: built without MPI: no column to compare with\n");
    options.mpi = false;
  }
  if (BecomeRank(options)) return RunRank(options);
  if (options.ranks == 0) options.ranks = 2;
  return LaunchRanks(options, arguments);
}

}  // namespace
}  // namespace horovodx::bench

int main(int argc, char** argv) {
  return horovodx::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
