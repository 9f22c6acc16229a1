#include "tools/bench/selection_mode.h"

#include <cstdio>
#include <string>
#include <vector>

#include "horovodx/api/c_api.h"

namespace horovodx::bench {
namespace {

// As often as the engine needs to have tried all that is promising, and some more.
std::size_t TimesOf(const Options& options, std::size_t bytes) {
  if (options.iterations > 0) return options.iterations;
  return bytes <= std::size_t{1} << 20 ? 80 : 40;
}

std::string Describe(const char* what) {
  const std::int64_t size = hvdx_describe(what, nullptr, 0);
  if (size <= 0) Fail(std::string("the engine does not tell its ") + what);
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  hvdx_describe(what, text.data(), size + 1);
  text.pop_back();
  return text;
}

void Write(const std::string& path) {
  const std::string text = "{\"selection\": " + Describe("allreduce_selection") +
                           ",\n \"costs\": " + Describe("allreduce_costs") + "}\n";
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if (file == nullptr || std::fclose(file) != 0 || !written) Fail("cannot write '" + path + "'");
}

}  // namespace

void RunSelectionMode(const Options& options, Engine& engine) {
  std::vector<float> data(options.max_bytes / sizeof(float) + 1, 1.0f);
  std::vector<float> sum(data.size());
  for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= options.factor) {
    const std::string name = "bench.selection." + std::to_string(bytes);
    const std::size_t elements = (bytes + sizeof(float) - 1) / sizeof(float);
    for (std::size_t i = 0; i < TimesOf(options, bytes); ++i) {
      engine.Allreduce(name, HVDX_FLOAT32, elements, data.data(), sum.data());
    }
  }
  if (engine.rank() != 0) return;
  std::fputs(Describe("allreduce_selection_table").c_str(), stdout);
  if (!options.json.empty()) Write(options.json);
}

}  // namespace horovodx::bench
