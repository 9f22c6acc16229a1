#include "horovodx/runtime/timeline.h"

#include <sys/prctl.h>

#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/runtime/trace_printer.h"

namespace horovodx::runtime {
namespace {

using What = TraceEvent::What;

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
    for (const auto& [set, plan] : plans_) RecordLocked({.what = What::kPlanBegin, .facts = plan});
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
  TraceEvent event{.what = What::kBegin, .tensor = std::string(tensor), .label = "NEGOTIATE_"};
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
          .facts = std::move(bucket)});
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
          .facts = TraceResult{type, std::move(shape)}});
}

void Timeline::OperationFailed(std::string_view tensor) {
  if (!active()) return;
  Record({.what = What::kEndAll, .tensor = std::string(tensor)});
}

void Timeline::OperationDropped(std::string_view tensor) {
  if (!active()) return;
  Record({.what = What::kDropAll, .tensor = std::string(tensor)});
}

void Timeline::BucketStart(std::string_view kind, BucketFacts bucket) {
  if (!active()) return;
  Record({.what = What::kBucketBegin, .label = std::string(kind), .facts = std::move(bucket)});
}

void Timeline::BucketEnd(int set) {
  if (!active()) return;
  Record({.what = What::kBucketEnd, .facts = BucketFacts{.set = set}});
}

void Timeline::PlanStart(PlanFacts plan) {
  {
    MutexLock lock(mutex_);
    plans_[plan.set] = plan;
    RecordLocked({.what = What::kPlanBegin, .facts = std::move(plan)});
  }
  changed_.NotifyAll();
}

void Timeline::StepEnd(const StepFacts& step) {
  if (!active()) return;
  Record({.what = What::kStep, .facts = step});
}

void Timeline::PlanEnd(PlanOver over) {
  {
    MutexLock lock(mutex_);
    plans_.erase(over.set);
    RecordLocked({.what = What::kPlanEnd, .facts = std::move(over)});
  }
  changed_.NotifyAll();
}

void Timeline::MarkCycle() {
  if (active() && mark_cycles_) Record({.what = What::kCycle});
}

void Timeline::Record(TraceEvent event) {
  bool was_empty = false;
  {
    MutexLock lock(mutex_);
    was_empty = queue_.empty();
    RecordLocked(std::move(event));
  }
  if (was_empty) changed_.NotifyAll();
}

void Timeline::RecordLocked(TraceEvent event) {
  if (!accepting_) return;
  if (queue_.size() >= queue_limit_) {
    ++dropped_;
    return;
  }
  // Under the lock, so that the file is in order of time; but for what was submitted earlier.
  if (event.what != What::kSubmitted) event.at = Clock::now();
  queue_.push_back(std::move(event));
}

bool Timeline::TakeEvents(std::vector<TraceEvent>& events) {
  events.clear();
  MutexLock lock(mutex_);
  while (queue_.empty() && accepting_) changed_.Wait(mutex_);
  events.swap(queue_);
  return !events.empty();
}

void Timeline::WriteUntilStopped(TraceFile file, TimePoint start) {
  ::prctl(PR_SET_NAME, "hvdx-timeline");
  TracePrinter printer(start);
  Status status;
  const auto write = [&](const std::vector<std::string>& records) {
    if (!status.ok()) return;
    status = file.Append(records);
    if (status.ok()) return;
    HVDX_LOG(kError) << status.message() << "; the timeline ends here";
  };
  write(TracePrinter::Head());
  for (std::vector<TraceEvent> events; TakeEvents(events);) write(printer.Print(events));
  MutexLock lock(mutex_);
  if (dropped_ > 0) {
    HVDX_LOG(kWarning) << "timeline: " << dropped_
                       << " events are missing: they came faster than they could be written";
  }
}

}  // namespace horovodx::runtime
