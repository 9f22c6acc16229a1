// Timeline: what happened to each tensor, as a Chrome trace (chrome://tracing, Perfetto).
//
// A tensor is a process of the trace. Its life: NEGOTIATE_<KIND> with a tick for each rank that
// became ready, then <KIND> with activities nested in it. Global rank 0 records; the engine sees to
// that.
//
// Process 0 is the engine's own. For each set it has a lane of plans (PLAN from start to end, and a
// mark STEP at the end of each step of one: what it took, and what was predicted), and a lane of
// buckets, one after the other. A plan that is in force when recording starts is shown from then
// on.
//
// Recording takes a lock for a moment and never waits for the disk: a thread of its own formats and
// writes. If that thread falls too far behind, events are dropped and counted, and the log says so.
// The file is a complete JSON array after every write.
//
// Thread: Start and Stop one at a time; all else from anywhere, also while starting or stopping.
// Everything but plans is ignored while nothing is recorded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/mutex.h"
#include "horovodx/runtime/trace_event.h"
#include "horovodx/runtime/trace_file.h"
#include "kernels/types.h"

namespace horovodx::runtime {

class Timeline {
 public:
  // At most `queue_limit` events wait to be written.
  explicit Timeline(std::size_t queue_limit = std::size_t{1} << 17) : queue_limit_(queue_limit) {}
  ~Timeline() { Stop(); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Records to this file (truncating it) instead of what was recorded to before. Nothing happens if
  // it is recorded to already. False, and an error in the log, if the file cannot be opened.
  bool Start(const std::string& path, bool mark_cycles);
  // Writes what is queued and closes the file.
  void Stop();
  bool active() const { return active_.load(std::memory_order_relaxed); }

  void NegotiateStart(std::string_view tensor, std::string_view kind);
  void NegotiateRankReady(std::string_view tensor, int set_rank);
  void NegotiateEnd(std::string_view tensor);

  // This rank has given the tensor of a step that follows a plan: nothing is negotiated then.
  void Submitted(std::string_view tensor, TimePoint at);
  void OperationStart(std::string_view tensor, std::string_view kind) {
    OperationStart(tensor, kind, BucketFacts{});
  }
  void OperationStart(std::string_view tensor, std::string_view kind, BucketFacts bucket);
  void ActivityStart(std::string_view tensor, std::string_view activity);
  void ActivityEnd(std::string_view tensor);
  // Ends the operation and whatever is still open in it. With type and shape when it succeeded.
  void OperationEnd(std::string_view tensor, ElementType type, std::vector<std::int64_t> shape);
  void OperationFailed(std::string_view tensor);
  // The same, because its plan ended: it will run again.
  void OperationDropped(std::string_view tensor);

  void BucketStart(std::string_view kind, BucketFacts bucket);
  void BucketEnd(int set);
  void PlanStart(PlanFacts plan);
  void StepEnd(const StepFacts& step);
  void PlanEnd(PlanOver over);

  void MarkCycle();

 private:
  void Record(TraceEvent event) HVDX_EXCLUDES(mutex_);
  void RecordLocked(TraceEvent event) HVDX_REQUIRES(mutex_);
  void WriteUntilStopped(TraceFile file, TimePoint start) HVDX_EXCLUDES(mutex_);
  // Waits for events. False when stopping and none are left.
  bool TakeEvents(std::vector<TraceEvent>& events) HVDX_EXCLUDES(mutex_);

  const std::size_t queue_limit_;
  std::string path_;    // empty: not recording
  std::thread writer_;  // owns the file
  // Only a hint that spares the lock; `accepting_` decides.
  std::atomic<bool> active_{false};
  std::atomic<bool> mark_cycles_{false};

  Mutex mutex_;
  CondVar changed_;
  bool accepting_ HVDX_GUARDED_BY(mutex_) = false;
  std::vector<TraceEvent> queue_ HVDX_GUARDED_BY(mutex_);
  std::map<int, PlanFacts> plans_ HVDX_GUARDED_BY(mutex_);  // in force, by set
  std::uint64_t dropped_ HVDX_GUARDED_BY(mutex_) = 0;
};

}  // namespace horovodx::runtime
