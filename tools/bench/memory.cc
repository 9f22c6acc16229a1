#include "tools/bench/memory.h"

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "tools/bench/stats.h"

namespace horovodx::bench {
namespace {

std::size_t StatusLine(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name, 0) == 0) return std::stoull(line.substr(name.size())) * 1024;
  }
  return 0;
}

}  // namespace

double CopyBandwidth() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const Block from(kBytes);
  const Block to(kBytes);
  std::vector<double> bandwidths;
  for (int round = 0; round < 9; ++round) {
    from.get()[static_cast<std::size_t>(round)] = std::byte{1};
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.get(), from.get(), kBytes);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    bandwidths.push_back(2.0 * kBytes / took.count());
  }
  return Median(std::move(bandwidths));
}

std::size_t PeakResident() { return StatusLine("VmHWM:"); }
std::size_t Resident() { return StatusLine("VmRSS:"); }
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace horovodx::bench
