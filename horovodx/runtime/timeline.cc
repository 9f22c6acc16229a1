#include "horovodx/runtime/timeline.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "horovodx/base/log.h"

namespace horovodx::runtime {
namespace {

using Event = Timeline::Event;
using What = Timeline::Event::What;

std::int64_t Micros(Duration d) {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

// Turns events into trace records; knows each tensor's process number and how many of its phases
// are open, so that begins and ends match also if recording starts or drops in the middle.
class Printer {
 public:
  explicit Printer(TimePoint start) : start_(start) {}

  static std::vector<std::string> Head() {
    const auto epoch = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return {
        R"({"name":"process_name","ph":"M","pid":0,"args":{"start_time_since_epoch_in_micros":)" +
            std::to_string(epoch.count()) + "}}",
        R"({"name":"process_sort_index","ph":"M","pid":0,"args":{"sort_index":0}})"};
  }

  std::vector<std::string> Print(const std::vector<Event>& events) {
    records_.clear();
    for (const auto& event : events) PrintOne(event);
    return std::move(records_);
  }

 private:
  struct Tensor {
    int pid = 0;
    int open = 0;
  };

  void PrintOne(const Event& event) {
    const std::string when =
        R"(,"ts":)" + std::to_string(Micros(std::max(event.at, start_) - start_));
    if (event.what == What::kCycle) {
      records_.push_back(R"({"ph":"i","name":"CYCLE_START")" + when + R"(,"s":"g"})");
      return;
    }
    Tensor& tensor = Find(event.tensor);
    const std::string where = when + R"(,"pid":)" + std::to_string(tensor.pid);
    const std::string name = R"(,"name":)" + JsonString(event.label);
    switch (event.what) {
      case What::kBegin:
        ++tensor.open;
        records_.push_back(R"({"ph":"B")" + name + where + BucketText(event) + "}");
        break;
      case What::kSubmitted:
      case What::kTick:
        records_.push_back(R"({"ph":"X")" + name + where + R"(,"dur":0})");
        break;
      case What::kEnd:
        End(tensor, where, "");
        break;
      case What::kEndAll:
        while (tensor.open > 1) End(tensor, where, "");
        End(tensor, where, ResultText(event));
        break;
      case What::kCycle:
        break;
    }
  }

  void End(Tensor& tensor, const std::string& where, const std::string& args) {
    if (tensor.open == 0) return;
    --tensor.open;
    records_.push_back(R"({"ph":"E")" + where + args + "}");
  }

  std::string BucketText(const Event& event) const {
    const BucketFacts& bucket = event.bucket;
    if (bucket.number < 0) return "";
    std::string text = R"(,"args":{"bucket":)" + std::to_string(bucket.number) + R"(,"set":)" +
                       std::to_string(bucket.set);
    if (!bucket.algorithm.empty()) text += R"(,"algorithm":)" + JsonString(bucket.algorithm);
    if (bucket.predicted) {
      // On the clock of "ts".
      text += R"(,"predicted_start":)" + std::to_string(Micros(bucket.predicted->first - start_)) +
              R"(,"predicted_end":)" + std::to_string(Micros(bucket.predicted->second - start_));
    }
    return text + "}";
  }

  static std::string ResultText(const Event& event) {
    if (!event.has_result) return "";
    return R"(,"args":{"dtype":")" + std::string(NameOf(event.type)) + R"(","shape":")" +
           ShapeText(event.shape) + R"("})";
  }

  Tensor& Find(const std::string& name) {
    const auto [it, is_new] = tensors_.try_emplace(name);
    if (is_new) {
      it->second.pid = static_cast<int>(tensors_.size());
      const std::string pid = std::to_string(it->second.pid);
      records_.push_back(R"({"name":"process_name","ph":"M","pid":)" + pid + R"(,"args":{"name":)" +
                         JsonString(name) + "}}");
      records_.push_back(R"({"name":"process_sort_index","ph":"M","pid":)" + pid +
                         R"(,"args":{"sort_index":)" + pid + "}}");
    }
    return it->second;
  }

  TimePoint start_;
  std::map<std::string, Tensor> tensors_;
  std::vector<std::string> records_;
};

}  // namespace

bool Timeline::Start(const std::string& path, bool mark_cycles) {
  if (!path_.empty() && path == path_) return true;
  Stop();
  auto file = TraceFile::Create(path);
  if (!file.ok()) {
    HVDX_LOG(kError) << file.status().message() << "; no timeline is recorded";
    return false;
  }
  path_ = path;
  mark_cycles_ = mark_cycles;
  {
    MutexLock lock(mutex_);
    accepting_ = true;
    dropped_ = 0;
  }
  writer_ = std::thread([this, f = std::move(file).value(), start = Clock::now()]() mutable {
    WriteUntilStopped(std::move(f), start);
  });
  active_ = true;
  return true;
}

void Timeline::Stop() {
  if (!writer_.joinable()) return;
  active_ = false;
  {
    MutexLock lock(mutex_);
    accepting_ = false;
  }
  changed_.NotifyAll();
  writer_.join();
  path_.clear();
}

void Timeline::NegotiateStart(std::string_view tensor, std::string_view kind) {
  if (!active()) return;
  Event event{.what = What::kBegin, .tensor = std::string(tensor), .label = "NEGOTIATE_"};
  event.label += kind;
  Record(std::move(event));
}

void Timeline::NegotiateRankReady(std::string_view tensor, int set_rank) {
  if (!active()) return;
  Record({.what = What::kTick, .tensor = std::string(tensor), .label = std::to_string(set_rank)});
}

void Timeline::NegotiateEnd(std::string_view tensor) { ActivityEnd(tensor); }

void Timeline::Submitted(std::string_view tensor, TimePoint at) {
  if (!active()) return;
  Record({.what = What::kSubmitted, .at = at, .tensor = std::string(tensor), .label = "SUBMITTED"});
}

void Timeline::OperationStart(std::string_view tensor, std::string_view kind, BucketFacts bucket) {
  if (!active()) return;
  Record({.what = What::kBegin,
          .tensor = std::string(tensor),
          .label = std::string(kind),
          .bucket = std::move(bucket)});
}

void Timeline::ActivityStart(std::string_view tensor, std::string_view activity) {
  if (!active()) return;
  Record({.what = What::kBegin, .tensor = std::string(tensor), .label = std::string(activity)});
}

void Timeline::ActivityEnd(std::string_view tensor) {
  if (!active()) return;
  Record({.what = What::kEnd, .tensor = std::string(tensor)});
}

void Timeline::OperationEnd(std::string_view tensor, ElementType type,
                            std::vector<std::int64_t> shape) {
  if (!active()) return;
  Record({.what = What::kEndAll,
          .tensor = std::string(tensor),
          .has_result = true,
          .type = type,
          .shape = std::move(shape)});
}

void Timeline::OperationFailed(std::string_view tensor) {
  if (!active()) return;
  Record({.what = What::kEndAll, .tensor = std::string(tensor)});
}

void Timeline::MarkCycle() {
  if (active() && mark_cycles_) Record({.what = What::kCycle});
}

void Timeline::Record(Event event) {
  bool was_empty = false;
  {
    MutexLock lock(mutex_);
    if (!accepting_) return;
    if (queue_.size() >= queue_limit_) {
      ++dropped_;
      return;
    }
    was_empty = queue_.empty();
    // Under the lock, so that the file is in order of time; but for what was submitted earlier.
    if (event.what != What::kSubmitted) event.at = Clock::now();
    queue_.push_back(std::move(event));
  }
  if (was_empty) changed_.NotifyAll();
}

bool Timeline::TakeEvents(std::vector<Event>& events) {
  events.clear();
  MutexLock lock(mutex_);
  while (queue_.empty() && accepting_) changed_.Wait(mutex_);
  events.swap(queue_);
  return !events.empty();
}

void Timeline::WriteUntilStopped(TraceFile file, TimePoint start) {
  ::prctl(PR_SET_NAME, "hvdx-timeline");
  Printer printer(start);
  Status status;
  const auto write = [&](const std::vector<std::string>& records) {
    if (!status.ok()) return;
    status = file.Append(records);
    if (status.ok()) return;
    HVDX_LOG(kError) << status.message() << "; the timeline ends here";
  };
  write(Printer::Head());
  for (std::vector<Event> events; TakeEvents(events);) write(printer.Print(events));
  MutexLock lock(mutex_);
  if (dropped_ > 0) {
    HVDX_LOG(kWarning) << "timeline: " << dropped_
                       << " events are missing: they came faster than they could be written";
  }
}

}  // namespace horovodx::runtime
