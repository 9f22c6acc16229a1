// What the timeline is told, before it is text. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "horovodx/base/clock.h"
#include "kernels/types.h"

namespace horovodx::runtime {

// Where a bucket stands in a plan.
struct PlanPlace {
  std::uint32_t plan = 0;  // the plan's number in its set: 1, 2, ...
  std::uint64_t step = 0;  // of the plan, from 0
  std::size_t index = 0;   // of the bucket in the plan, from 0
};

// What a tensor runs in.
struct BucketFacts {
  std::int64_t number = -1;  // of all buckets of the set, planned or not; -1: not known
  int set = 0;
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;
  std::string algorithm = {};             // empty: none to speak of
  std::optional<PlanPlace> planned = {};  // none: negotiated
  // By the schedule, when it was to leave and to arrive; none: not planned.
  std::optional<std::pair<TimePoint, TimePoint>> predicted = {};
};

// A plan that a set follows.
struct PlanFacts {
  int set = 0;
  std::uint32_t plan = 0;  // as in PlanPlace
  std::string rule = {};
  bool cautious = false;  // only tensors that come at the same moment share a bucket
  std::size_t tensors = 0;
  std::size_t buckets = 0;
  double predicted = 0.0;  // seconds from a step's first tensor to its last result
  std::string cost = {};   // of an allreduce, by which that is so
};

// A step of a plan that has ended.
struct StepFacts {
  int set = 0;
  std::uint32_t plan = 0;
  std::uint64_t step = 0;
  double took = 0.0;  // seconds, as PlanFacts::predicted
  double predicted = 0.0;
};

// A plan is over, after so many whole steps and so many buckets of one more.
struct PlanOver {
  int set = 0;
  std::uint64_t steps = 0;
  std::uint64_t buckets = 0;
  std::string why = {};
};

// Of an operation that succeeded.
struct TraceResult {
  ElementType type = ElementType::kFloat32;
  std::vector<std::int64_t> shape = {};
};

struct TraceEvent {
  enum class What : std::uint8_t {
    // Of a tensor.
    kBegin,      // a phase; BucketFacts of an operation's
    kEnd,        // the innermost phase
    kEndAll,     // the operation and whatever is open in it; TraceResult if it succeeded
    kDropAll,    // the same, since its plan ended; it will run again
    kTick,       // a rank is ready
    kSubmitted,  // `at` is when
    // Of a set, on lanes of its own.
    kBucketBegin,  // BucketFacts
    kBucketEnd,    // BucketFacts, of which the set counts
    kPlanBegin,    // PlanFacts
    kPlanEnd,      // PlanOver
    kStep,         // StepFacts
    kCycle,
  };
  What what = What::kBegin;
  TimePoint at = {};
  std::string tensor = {};
  std::string label = {};  // phase or activity of kBegin; set rank of kTick; kind of kBucketBegin
  std::variant<std::monostate, BucketFacts, TraceResult, PlanFacts, PlanOver, StepFacts> facts = {};
};

}  // namespace horovodx::runtime
