// One clock for every deadline and every time stamp.
#pragma once

#include <algorithm>
#include <chrono>

namespace horovodx {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;

inline Duration Seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}
inline double ToSeconds(Duration d) { return std::chrono::duration<double>(d).count(); }

// A point in time by which something must have happened. "Never" is a choice the caller spells out.
class Deadline {
 public:
  static Deadline After(Duration d) { return Deadline(Clock::now() + d); }
  static Deadline At(TimePoint t) { return Deadline(t); }
  static Deadline Never() { return Deadline(TimePoint::max()); }

  bool Passed() const { return at_ != TimePoint::max() && Clock::now() >= at_; }
  TimePoint at() const { return at_; }
  // What is left, never negative, and no longer than `most`.
  Duration Left(Duration most = std::chrono::hours(1)) const {
    if (at_ == TimePoint::max()) return most;
    return std::clamp<Duration>(at_ - Clock::now(), Duration::zero(), most);
  }

 private:
  explicit Deadline(TimePoint at) : at_(at) {}
  TimePoint at_;
};

}  // namespace horovodx
