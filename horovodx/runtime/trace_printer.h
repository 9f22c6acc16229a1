// TracePrinter: turns events into the records of a Chrome trace.
//
// It knows each tensor's process number and how many of its phases are open, so that begins and
// ends match also if recording starts or drops in the middle. Process 0 is the engine's own: lane
// 2s has the plans of set s, lane 2s + 1 its buckets.
//
// Thread: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/runtime/trace_event.h"

namespace horovodx::runtime {

class TracePrinter {
 public:
  // Times are counted from `start`.
  explicit TracePrinter(TimePoint start) : start_(start) {}

  // The records that every file begins with.
  static std::vector<std::string> Head();
  std::vector<std::string> Print(const std::vector<TraceEvent>& events);

 private:
  struct Tensor {
    int pid = 0;
    int open = 0;
  };

  void PrintOne(const TraceEvent& event);
  void PrintOfTensor(const TraceEvent& event, const std::string& when);
  void PrintOfSet(const TraceEvent& event, const std::string& when);
  void Begin(int lane, const std::string& when, const std::string& name, const std::string& args);
  void End(int lane, const std::string& when, const std::string& args);
  void End(Tensor& tensor, const std::string& where, const std::string& args);
  // ,"pid":0,"tid":3 and, the first time, its name.
  std::string OnLane(int lane);
  std::string ArgsOf(const BucketFacts& bucket) const;
  Tensor& Find(const std::string& name);

  TimePoint start_;
  std::map<std::string, Tensor> tensors_;
  std::map<int, bool> lanes_;  // whether something is open on them
  std::vector<std::string> records_;
};

}  // namespace horovodx::runtime
