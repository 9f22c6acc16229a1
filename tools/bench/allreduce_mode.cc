#include "tools/bench/allreduce_mode.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>

#include "tools/bench/memory.h"
#include "tools/bench/pattern.h"
#include "tools/bench/stats.h"

namespace horovodx::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Enough that a neighbour's burst of some tens of milliseconds does not reach the median.
std::size_t IterationsFor(std::size_t bytes) {
  if (bytes <= kMiB / 4) return 1000;
  if (bytes <= 8 * kMiB) return 400;
  return bytes <= 64 * kMiB ? 30 : 10;
}

// Contestants take turns this often.
constexpr std::size_t kTurns = 20;

// One way to add up, with its way to meet before the clock starts.
struct Contestant {
  const char* name;
  std::function<void()> meet;
  std::function<void(std::size_t elements)> sum;
  std::vector<double> times = {};  // of this rank, then of the slowest
};

// What one size took in all rounds so far.
struct Samples {
  std::vector<double> ours;
  std::vector<double> mpi;     // empty: not asked
  std::vector<double> ratios;  // of the rounds
};

class Contest {
 public:
  Contest(const Options& options, Engine& engine, Mpi* mpi, std::size_t most_bytes)
      : engine_(engine),
        pattern_(options.type, engine.size()),
        input_(most_bytes),
        output_(most_bytes) {
    const int type = pattern_.type();
    contestants_.push_back({"horovodx", [&engine] { engine.Meet(); },
                            [this, type](std::size_t elements) {
                              engine_.Allreduce(name_, type, elements, input_.get(), output_.get());
                            }});
    if (mpi == nullptr || !mpi->HasType(type)) return;
    contestants_.push_back({"mpi", [mpi] { mpi->Meet(); },
                            [this, mpi, type](std::size_t elements) {
                              mpi->Allreduce(type, elements, input_.get(), output_.get());
                            }});
  }

  // Times of the slowest rank, contestant by contestant.
  void Measure(std::size_t bytes, std::size_t iterations) {
    name_ = "bench." + std::to_string(bytes);
    for (auto& contestant : contestants_) contestant.times.clear();
    const std::size_t resident = Resident();
    ResetPeak();
    // A few turns of each to warm up, the first checked in full.
    for (auto& contestant : contestants_) {
      for (int i = 0; i < 3; ++i) Once(contestant, bytes, /*check_all=*/i == 0);
      contestant.times.clear();
      if (&contestant == &contestants_.front()) NotePeak(resident);
    }
    const std::size_t turn = std::max<std::size_t>(1, iterations / kTurns);
    for (std::size_t done = 0; done < iterations; done += turn) {
      for (auto& contestant : contestants_) {
        for (std::size_t i = 0; i < std::min(turn, iterations - done); ++i) {
          Once(contestant, bytes, false);
        }
      }
    }
    for (auto& contestant : contestants_) contestant.times = engine_.Max(contestant.times);
  }

  bool has_mpi() const { return contestants_.size() > 1; }
  // What Measure() found, added to what was there.
  void AddTo(Samples& samples) const {
    const auto& ours = contestants_[0].times;
    samples.ours.insert(samples.ours.end(), ours.begin(), ours.end());
    if (!has_mpi()) return;
    const auto& mpi = contestants_[1].times;
    samples.mpi.insert(samples.mpi.end(), mpi.begin(), mpi.end());
    samples.ratios.push_back(Median(ours) / Median(mpi));
  }
  double peak_growth() const { return peak_growth_; }

 private:
  void Once(Contestant& contestant, std::size_t bytes, bool check_all) {
    const std::size_t iteration = iteration_++;
    pattern_.Fill(input_.get(), bytes, engine_.rank(), iteration);
    contestant.meet();
    const auto start = std::chrono::steady_clock::now();
    contestant.sum(bytes / pattern_.element_size());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    contestant.times.push_back(took.count());
    if (const auto wrong = pattern_.FindWrong(output_.get(), bytes, iteration, check_all)) {
      Fail(std::string(contestant.name) + " gave a wrong sum of " + SizeText(bytes) + ": byte " +
           std::to_string(*wrong) + ", iteration " + std::to_string(iteration));
    }
  }

  void NotePeak(std::size_t resident) {
    const std::size_t peak = PeakResident();
    if (peak > resident) {
      peak_growth_ = std::max(peak_growth_, static_cast<double>(peak - resident));
    }
  }

  Engine& engine_;
  Pattern pattern_;
  Block input_;
  Block output_;
  std::string name_;
  std::vector<Contestant> contestants_;
  std::size_t iteration_ = 0;
  double peak_growth_ = 0;
};

class Table {
 public:
  Table(int ranks, double bandwidth, bool has_mpi, bool rounds, bool shown, Report& report)
      : ranks_(ranks),
        bandwidth_(bandwidth),
        has_mpi_(has_mpi),
        rounds_(rounds),
        shown_(shown),
        report_(report) {
    if (!shown_) return;
    std::printf("%10s %12s %9s %9s", "size", "time", "algbw", "busbw");
    if (has_mpi_) std::printf(" %12s %7s %6s %5s", "MPI", "ratio", "bar", "");
    if (has_mpi_ && rounds_) std::printf(" %12s", "rounds");
    if (bandwidth_ > 0) std::printf(" %12s %7s", "limit", "x limit");
    std::printf("\n%10s %12s %9s %9s\n", "", "", "GB/s", "GB/s");
  }

  // Whether the ratio is within its bar (or there is none).
  bool Add(std::size_t bytes, const Samples& samples) {
    const double ours = Median(samples.ours);
    Report::Row row = {{"bytes", static_cast<double>(bytes)},
                       {"seconds", ours},
                       {"algbw", AlgorithmBandwidth(bytes, ours)},
                       {"busbw", BusBandwidth(bytes, ours, ranks_)}};
    Print("%10s %12s %9.3f %9.3f", SizeText(bytes).c_str(), TimeText(ours).c_str(),
          AlgorithmBandwidth(bytes, ours) / 1e9, BusBandwidth(bytes, ours, ranks_) / 1e9);
    const bool ok = !has_mpi_ || AddMpi(bytes, ours, samples, row);
    if (bandwidth_ > 0 && bytes >= 64 * kMiB) {
      const double limit = 2.0 * ranks_ * static_cast<double>(bytes) / bandwidth_;
      row.emplace_back("memory_limit_seconds", limit);
      Print(" %12s %7.2f", TimeText(limit).c_str(), ours / limit);
    }
    Print("\n");
    if (shown_) std::fflush(stdout);
    report_.Add(std::move(row));
    return ok;
  }

 private:
  bool AddMpi(std::size_t bytes, double ours, const Samples& samples, Report::Row& row) {
    const double mpi = Median(samples.mpi);
    const double ratio = ours / mpi;
    row.emplace_back("mpi_seconds", mpi);
    row.emplace_back("ratio", ratio);
    const auto bar = Bar(ranks_, bytes);
    const bool ok = !bar || ratio <= *bar;
    if (bar) row.emplace_back("bar", *bar);
    const std::string bar_text = bar ? std::to_string(*bar).substr(0, 4) : "";
    Print(" %12s %7.2f %6s %5s", TimeText(mpi).c_str(), ratio, bar_text.c_str(),
          !bar ? ""
          : ok ? "ok"
               : "over");
    const auto [least, most] = std::minmax_element(samples.ratios.begin(), samples.ratios.end());
    row.emplace_back("least_ratio_of_a_round", *least);
    row.emplace_back("most_ratio_of_a_round", *most);
    if (rounds_) Print(" %5.2f to %.2f", *least, *most);
    return ok;
  }

  template <typename... Values>
  void Print(const char* format, Values... values) {
    if (shown_) std::printf(format, values...);  // NOLINT: the formats are above
  }
  void Print(const char* text) {
    if (shown_) std::fputs(text, stdout);
  }

  int ranks_;
  double bandwidth_;
  bool has_mpi_;
  bool rounds_;
  bool shown_;
  Report& report_;
};

// Bytes a second of all ranks together, 0 if no size is large enough to need it.
double MeasureBandwidth(const Options& options, Engine& engine) {
  if (options.max_bytes < 64 * kMiB) return 0;
  engine.Meet();
  // The slowest rank's share, times the ranks: a sum would need another operation.
  const double slowest = -engine.Max({-CopyBandwidth()})[0];
  return slowest * engine.size();
}

}  // namespace

int RunAllreduceMode(const Options& options, Engine& engine, Mpi* mpi, Report& report) {
  const bool shown = engine.rank() == 0;
  const double bandwidth = MeasureBandwidth(options, engine);
  if (shown && bandwidth > 0) {
    std::printf("memory: %.1f GB/s read and written by all ranks\n", bandwidth / 1e9);
  }
  report.Setting("memory_bandwidth", bandwidth);
  Contest contest(options, engine, mpi, options.max_bytes);
  if (shown && options.mpi && !contest.has_mpi()) {
    std::printf("no comparison with MPI: %s\n",
                mpi == nullptr ? "not loaded" : "it has no such type");
  }
  // Round by round, so that what this machine is busy with for a while does not meet one size
  // alone.
  std::map<std::size_t, Samples> samples;
  Table table(engine.size(), bandwidth, contest.has_mpi(), options.rounds > 1, shown, report);
  bool all_ok = true;
  for (std::size_t round = 1; round <= options.rounds; ++round) {
    for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes;
         bytes *= options.factor) {
      if (shown) {
        std::fprintf(stderr, "hvdx-bench: round %zu of %zu, %s ...\n", round, options.rounds,
                     SizeText(bytes).c_str());
      }
      contest.Measure(bytes, options.iterations > 0 ? options.iterations : IterationsFor(bytes));
      contest.AddTo(samples[bytes]);
      if (round == options.rounds) all_ok = table.Add(bytes, samples[bytes]) && all_ok;
    }
  }
  const double growth = engine.Max({contest.peak_growth()})[0];
  report.Setting("peak_resident_growth_bytes", growth);
  const bool grew_too_much = GrowthIsOverBar(growth);
  if (shown) {
    std::printf("resident memory of a rank grew by at most %.1f MiB while it ran%s\n",
                growth / static_cast<double>(kMiB), grew_too_much ? ", over the bar of 16" : "");
  }
  return options.strict && (!all_ok || grew_too_much) ? 1 : 0;
}

}  // namespace horovodx::bench
