#include "horovodx/negotiation/stall_inspector.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "horovodx/base/log.h"

namespace horovodx::negotiation {
namespace {

constexpr std::size_t kMostNames = 6;
// Between checks, so that a warning time of 0 does not keep the engine awake.
constexpr auto kShortest = std::chrono::milliseconds(10);
constexpr auto kOverslept = std::chrono::seconds(1);

struct Missing {
  std::set<std::string> names;
  bool stop = false;
};

void WriteNames(const std::set<std::string>& names, std::ostream& out) {
  std::size_t count = 0;
  out << '[';
  for (const std::string& name : names) {
    if (count == kMostNames) {
      out << " ...";
      break;
    }
    out << (count++ > 0 ? ", " : "") << name;
  }
  out << ']';
}

std::int64_t WholeSeconds(Duration d) {
  return std::chrono::duration_cast<std::chrono::seconds>(d).count();
}

TimePoint Later(TimePoint t, Duration d) {
  return t > TimePoint::max() - d ? TimePoint::max() : t + d;
}

}  // namespace

StallInspector::StallInspector(Duration warning, Duration shutdown)
    : warning_(std::max<Duration>(warning, kShortest)), shutdown_(shutdown) {
  if (shutdown_ > Duration::zero() && shutdown_ < warning_) {
    HVDX_LOG(kWarning) << "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS (" << WholeSeconds(shutdown_)
                       << ") is less than HOROVOD_STALL_CHECK_TIME_SECONDS ("
                       << WholeSeconds(warning_) << ") and is ignored.";
    shutdown_ = Duration::zero();
  }
}

TimePoint StallInspector::NextCheck(TimePoint oldest) const {
  TimePoint next = Later(oldest, warning_);
  if (last_check_) next = std::max(next, Later(*last_check_, warning_));
  if (shutdown_ > Duration::zero()) {
    const TimePoint limit = std::max(Later(oldest, shutdown_), no_stop_before_);
    if (!last_check_ || *last_check_ < limit) next = std::min(next, limit);
  }
  return next;
}

std::optional<StallReport> StallInspector::Check(const std::vector<WaitingTensor>& waiting,
                                                 TimePoint now) {
  TimePoint oldest = TimePoint::max();
  for (const WaitingTensor& tensor : waiting) oldest = std::min(oldest, tensor.since);
  if (now > Later(NextCheck(oldest), kOverslept)) no_stop_before_ = Later(now, shutdown_);
  last_check_ = now;
  std::map<std::int32_t, Missing> by_rank;
  for (const WaitingTensor& tensor : waiting) {
    if (now - tensor.since < warning_) continue;
    const bool stop =
        shutdown_ > Duration::zero() && now - tensor.since >= shutdown_ && now >= no_stop_before_;
    for (std::int32_t rank : tensor.missing) {
      by_rank[rank].names.insert(tensor.name);
      by_rank[rank].stop = by_rank[rank].stop || stop;
    }
  }
  if (by_rank.empty()) return std::nullopt;
  StallReport report;
  std::ostringstream text, missed;
  text << "One or more tensors were submitted to be reduced, gathered or broadcasted by some ranks "
          "and are waiting for remainder of ranks for more than "
       << WholeSeconds(warning_)
       << " seconds. If the missing ranks never submit them (because they do something else, or "
          "nothing), this is a deadlock.\nMissing ranks:";
  for (const auto& [rank, missing] : by_rank) {
    text << '\n' << rank << (missing.stop ? "!" : "") << ": ";
    WriteNames(missing.names, text);
    missed << (missed.tellp() > 0 ? "; " : "") << "rank " << rank << " has not submitted ";
    WriteNames(missing.names, missed);
    if (missing.stop) report.stalled.push_back(rank);
  }
  if (!report.stalled.empty()) {
    text << "\nRanks marked \"!\" are stalled for more than " << WholeSeconds(shutdown_)
         << " seconds. Horovod will shut down.";
  }
  report.text = text.str();
  report.missing = missed.str();
  return report;
}

}  // namespace horovodx::negotiation
