#include "tools/bench/training_mode.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "tools/bench/memory.h"
#include "tools/bench/pattern.h"
#include "tools/bench/stats.h"

namespace horovodx::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Tensor {
  Engine::Slot slot;
  std::size_t offset;  // bytes
  std::size_t bytes;
};

class Training {
 public:
  Training(const Options& options, const Model& model, Engine& engine)
      : options_(options),
        engine_(engine),
        pattern_(options.type, engine.size()),
        input_(model.total() * pattern_.element_size()),
        output_(model.total() * pattern_.element_size()) {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < model.elements.size(); ++i) {
      const std::size_t bytes = model.elements[i] * pattern_.element_size();
      tensors_.push_back({engine.Register(model.name + "." + std::to_string(i), pattern_.type(),
                                          model.elements[i]),
                          offset, bytes});
      offset += bytes;
    }
  }

  // Seconds from the last submission to the last result, on this rank.
  double Step(bool check_all) {
    const std::size_t iteration = iteration_++;
    for (const auto& t : tensors_) {
      pattern_.Fill(input_.get() + t.offset, t.bytes, engine_.rank(), iteration);
    }
    engine_.Meet();
    std::vector<Engine::Handle> handles;
    handles.reserve(tensors_.size());
    const auto start = SteadyClock::now();
    for (std::size_t i = tensors_.size(); i-- > 0;) {
      const auto share =
          static_cast<double>(handles.size() + 1) / static_cast<double>(tensors_.size());
      ComputeUntil(start + std::chrono::duration_cast<SteadyClock::duration>(
                               std::chrono::duration<double>(share * options_.backward_ms / 1e3)));
      const auto& t = tensors_[i];
      handles.push_back(engine_.Submit(t.slot, input_.get() + t.offset, output_.get() + t.offset));
    }
    const auto last = SteadyClock::now();
    for (const auto handle : handles) engine_.Wait(handle);
    const std::chrono::duration<double> exposed = SteadyClock::now() - last;
    Check(iteration, check_all);
    return exposed.count();
  }

 private:
  void ComputeUntil(SteadyClock::time_point until) const {
    if (options_.sleep) {
      std::this_thread::sleep_until(until);
      return;
    }
    while (SteadyClock::now() < until) {
    }
  }

  void Check(std::size_t iteration, bool all) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      // Sums are made anew for each size, so only some tensors are looked at every time.
      if (!all && i % 16 != iteration % 16) continue;
      const auto& t = tensors_[i];
      if (const auto wrong =
              pattern_.FindWrong(output_.get() + t.offset, t.bytes, iteration, all)) {
        Fail("wrong sum in tensor " + std::to_string(i) + " of " + SizeText(t.bytes) + ": byte " +
             std::to_string(*wrong) + ", step " + std::to_string(iteration));
      }
    }
  }

  const Options& options_;
  Engine& engine_;
  Pattern pattern_;
  Block input_;
  Block output_;
  std::vector<Tensor> tensors_;
  std::size_t iteration_ = 0;
};

}  // namespace

void RunTrainingMode(const Options& options, const Model& model, Engine& engine, Report& report) {
  const bool shown = engine.rank() == 0;
  if (shown) {
    std::printf("%s: %zu tensors, %.1f million elements, ready over %.1f ms\n", model.name.c_str(),
                model.elements.size(), static_cast<double>(model.total()) / 1e6,
                options.backward_ms);
    std::fflush(stdout);
    std::fprintf(stderr, "hvdx-bench: %zu steps to warm up, %zu timed ...\n", options.warmup,
                 options.steps);
  }
  Training training(options, model, engine);
  for (std::size_t i = 0; i < options.warmup; ++i) training.Step(/*check_all=*/i == 0);
  const std::int64_t messages_before = engine.control_messages();
  std::vector<double> exposed;
  for (std::size_t i = 0; i < options.steps; ++i) {
    exposed.push_back(training.Step(/*check_all=*/i + 1 == options.steps));
  }
  const auto messages = static_cast<double>(engine.control_messages() - messages_before) /
                        static_cast<double>(options.steps);
  // One step more: who is first through would else tell the others that it leaves the plan, before
  // they have counted.
  training.Step(/*check_all=*/false);
  exposed = engine.Max(exposed);
  const double busiest = engine.Max({messages})[0];
  report.Add({{"exposed_median_seconds", Median(exposed)},
              {"exposed_p90_seconds", Percentile(exposed, 0.9)},
              {"control_messages_per_step", busiest}});
  if (!shown) return;
  std::printf("exposed after the last gradient: median %s, 90%% below %s\n",
              TimeText(Median(exposed)).c_str(), TimeText(Percentile(exposed, 0.9)).c_str());
  std::printf("control messages a step: %.2f\n", busiest);
}

}  // namespace horovodx::bench
