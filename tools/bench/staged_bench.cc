// staged_bench: how long an allreduce between processes of this host takes, size by size.
//
//   staged_bench --ranks 2 [--in-place] [--pin] [--min BYTES] [--max BYTES] [--spin N] [--yield N]
//                [--segment BYTES] [--slices 0|1] [--past-cache 0|1] [--streaming-from BYTES]
//
// Forks the ranks over one anonymous shared mapping; every rank fills its input anew before each
// turn and checks the result after it. Prints the median and the least of the slowest rank's times.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/collectives/allreduce_staged.h"

namespace horovodx {
namespace {

using collectives::StagedAllreduce;
using collectives::StagedTensors;
using collectives::StagePipe;

constexpr int kSlots = 4;
constexpr std::size_t kSlotBytes = 256 << 10;
constexpr int kTurns = 101;

struct Options {
  int ranks = 2;
  bool in_place = false;
  bool pin = false;
  std::size_t min = 4;
  std::size_t max = 256 << 20;
  int spin = -1;    // looks before the first yield
  int yield = 100;  // yields before sleeping
  collectives::StageOptions stage;
};

// What a rank shows the others.
struct alignas(64) Place {
  std::atomic<std::uint64_t> mark{0};
  BellWord bell;
  double times[kTurns];
};

std::byte* MapShared(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  return static_cast<std::byte*>(memory);
}

class MappedStage : public transport::Stage {
 public:
  MappedStage(const std::vector<Place*>& places, std::byte* memory, int rank) {
    for (Place* place : places) {
      base_pointers_.push_back(memory);
      memory += kSlots * kSlotBytes;
      mark_pointers_.push_back(&place->mark);
      bell_pointers_.push_back(&place->bell);
    }
    rank_ = rank;
    size_ = static_cast<int>(places.size());
    slots_ = kSlots;
    slot_bytes_ = kSlotBytes;
    base_ = base_pointers_.data();
    marks_ = mark_pointers_.data();
    bells_ = bell_pointers_.data();
  }
  Bell my_bell() const { return Bell(bells_[rank_]); }

 private:
  std::vector<std::byte*> base_pointers_;
  std::vector<std::atomic<std::uint64_t>*> mark_pointers_;
  std::vector<BellWord*> bell_pointers_;
};

class Rank {
 public:
  Rank(const Options& options, const std::vector<Place*>& places, std::byte* memory, int rank)
      : options_(options),
        places_(places),
        stage_(places, memory, rank),
        pipe_(stage_, options.stage) {}

  void Run() {
    if (options_.pin) Pin();
    for (std::size_t bytes = options_.min; bytes <= options_.max; bytes *= 4) Measure(bytes);
  }

 private:
  // To one core, as MPI's launcher does.
  void Pin() const {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<unsigned>(stage_.rank()) % std::thread::hardware_concurrency(), &cores);
    ::sched_setaffinity(0, sizeof cores, &cores);
  }

  void Measure(std::size_t bytes) {
    const std::size_t count = bytes / sizeof(float);
    std::vector<float> input(count);
    std::vector<float> other(options_.in_place ? 0 : count);
    std::vector<float>& output = options_.in_place ? input : other;
    const int turns =
        std::clamp(static_cast<int>((std::size_t{1} << 29) / (bytes + 1)), 11, kTurns);
    // Short operations are timed many at a time, one right after the other.
    const int repeats = bytes <= 16 << 10 ? 50 : 1;
    for (int turn = 0; turn < turns; ++turn) {
      const float first = static_cast<float>(turn % 64 + stage_.rank());
      for (std::size_t i = 0; i < count; ++i) input[i] = first + static_cast<float>(i % 1024);
      Allreduce(nullptr, nullptr, 0);
      const TimePoint start = Clock::now();
      for (int i = 0; i < repeats; ++i) Allreduce(input.data(), output.data(), count);
      places_[stage_.rank()]->times[turn] = ToSeconds(Clock::now() - start) / repeats;
      Allreduce(nullptr, nullptr, 0);  // so that checking does not slow down those not yet done
      if (repeats == 1 || !options_.in_place) Check(output, turn);
    }
    Allreduce(nullptr, nullptr, 0);
    if (stage_.rank() == 0) Print(bytes, turns);
    Allreduce(nullptr, nullptr, 0);
  }

  void Check(const std::vector<float>& output, int turn) const {
    const int ranks = stage_.size();
    const int sum_of_ranks = ranks * (ranks - 1) / 2;
    const auto first = static_cast<float>(turn % 64 * ranks + sum_of_ranks);
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (output[i] == first + static_cast<float>(ranks * static_cast<int>(i % 1024))) continue;
      std::fprintf(stderr, "rank %d: element %zu of %zu is %g\n", stage_.rank(), i, output.size(),
                   output[i]);
      std::exit(1);
    }
  }

  void Print(std::size_t bytes, int turns) const {
    std::vector<double> slowest;
    for (int turn = 0; turn < turns; ++turn) {
      double most = 0;
      for (const Place* place : places_) most = std::max(most, place->times[turn]);
      slowest.push_back(most);
    }
    std::sort(slowest.begin(), slowest.end());
    std::printf("%10zu bytes  median %10.2f us  least %10.2f us\n", bytes,
                slowest[slowest.size() / 2] * 1e6, slowest.front() * 1e6);
    std::fflush(stdout);
  }

  void Allreduce(float* input, float* output, std::size_t count) {
    const kernels::Piece in{input, count};
    const kernels::Piece out{output, count};
    StagedTensors tensors;
    tensors.input = {&in, 1};
    tensors.output = {&out, 1};
    StagedAllreduce operation(pipe_, tensors);
    for (;;) {
      const auto progress = operation.Advance();
      if (progress == StagedAllreduce::Progress::kDone) return;
      if (progress == StagedAllreduce::Progress::kBlocked) Wait(operation);
    }
  }

  void Wait(const StagedAllreduce& operation) const {
    for (int i = 0; i < options_.spin; ++i) {
      if (operation.waiting_for() < 0) return;
      __builtin_ia32_pause();
    }
    for (int i = 0; i < options_.yield; ++i) {
      ::sched_yield();
      if (operation.waiting_for() < 0) return;
    }
    Bell::Listener listener(stage_.my_bell());
    while (operation.waiting_for() >= 0) {
      if (!listener.Sleep(Deadline::After(Seconds(10)))) {
        std::fprintf(stderr, "rank %d waits for %d\n", stage_.rank(), operation.waiting_for());
        std::exit(1);
      }
    }
  }

  const Options& options_;
  std::vector<Place*> places_;
  MappedStage stage_;
  StagePipe pipe_;
};

// That is to be taken by all operations, whatever is faster.
collectives::StageWay& Way(Options& options) {
  if (!options.stage.way) options.stage.way.emplace();
  return *options.stage.way;
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    const auto number = [&] { return i + 1 < argc ? std::atoll(argv[++i]) : 0; };
    if (is("--ranks"))
      options.ranks = static_cast<int>(number());
    else if (is("--in-place"))
      options.in_place = true;
    else if (is("--pin"))
      options.pin = true;
    else if (is("--min"))
      options.min = static_cast<std::size_t>(number());
    else if (is("--max"))
      options.max = static_cast<std::size_t>(number());
    else if (is("--spin"))
      options.spin = static_cast<int>(number());
    else if (is("--yield"))
      options.yield = static_cast<int>(number());
    else if (is("--segment"))
      options.stage.segment_bytes = options.stage.sliced_segment_bytes =
          static_cast<std::size_t>(number());
    else if (is("--streaming-from"))
      options.stage.streaming_from_bytes = static_cast<std::size_t>(number());
    else if (is("--slices"))
      Way(options).by_slices = number() != 0;
    else if (is("--past-cache"))
      Way(options).past_cache = number() != 0;
    else {
      std::fprintf(stderr, "staged_bench: unknown option %s\n", argv[i]);
      std::exit(2);
    }
  }
  if (options.spin < 0) {
    const bool room = static_cast<int>(std::thread::hardware_concurrency()) >= options.ranks;
    options.spin = room ? 20'000 : 0;
  }
  return options;
}

int Main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  const auto ranks = static_cast<std::size_t>(options.ranks);
  std::byte* memory = MapShared(ranks * kSlots * kSlotBytes);
  std::byte* shown = MapShared(ranks * sizeof(Place));
  std::vector<Place*> places;
  for (std::size_t i = 0; i < ranks; ++i) places.push_back(new (shown + i * sizeof(Place)) Place);
  for (int rank = 1; rank < options.ranks; ++rank) {
    if (::fork() == 0) {
      Rank(options, places, memory, rank).Run();
      return 0;
    }
  }
  Rank(options, places, memory, 0).Run();
  int failed = 0;
  for (int status = 0; ::wait(&status) > 0;) failed |= status;
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace horovodx

int main(int argc, char** argv) { return horovodx::Main(argc, argv); }
