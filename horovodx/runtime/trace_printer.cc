#include "horovodx/runtime/trace_printer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "horovodx/runtime/trace_file.h"

namespace horovodx::runtime {
namespace {

using What = TraceEvent::What;

std::int64_t Micros(Duration d) {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}
std::int64_t Micros(double seconds) { return Micros(Seconds(seconds)); }

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

// ,"args":{...}
class Args {
 public:
  template <typename Number>
  Args& Add(const char* key, Number value) {
    text_ += Key(key) + std::to_string(value);
    return *this;
  }
  Args& Add(const char* key, const std::string& value) {
    text_ += Key(key) + JsonString(value);
    return *this;
  }
  std::string text() const { return text_ + "}"; }

 private:
  std::string Key(const char* key) const {
    return (text_.back() == '{' ? "\"" : ",\"") + std::string(key) + "\":";
  }
  std::string text_ = R"(,"args":{)";
};

std::string ArgsOf(const TraceEvent& end) {
  if (end.what == What::kDropAll) return Args().Add("dropped", 1).text();
  const auto* result = std::get_if<TraceResult>(&end.facts);
  if (result == nullptr) return "";
  return Args()
      .Add("dtype", std::string(NameOf(result->type)))
      .Add("shape", ShapeText(result->shape))
      .text();
}

std::string ArgsOf(const PlanFacts& plan) {
  Args args;
  args.Add("set", plan.set).Add("plan", plan.plan).Add("rule", plan.rule);
  if (plan.cautious) args.Add("cautious", 1);
  return args.Add("tensors", plan.tensors)
      .Add("buckets", plan.buckets)
      .Add("predicted_us", Micros(plan.predicted))
      .Add("cost", plan.cost)
      .text();
}

std::string ArgsOf(const StepFacts& step) {
  return Args()
      .Add("plan", step.plan)
      .Add("step", step.step)
      .Add("took_us", Micros(step.took))
      .Add("predicted_us", Micros(step.predicted))
      .text();
}

std::string ArgsOf(const PlanOver& over) {
  return Args()
      .Add("steps", over.steps)
      .Add("buckets_of_one_more", over.buckets)
      .Add("why", over.why)
      .text();
}

int PlanLane(int set) { return 2 * set; }
int BucketLane(int set) { return 2 * set + 1; }

std::string NameOfBucket(const TraceEvent& event, const BucketFacts& bucket) {
  if (!bucket.planned) return event.label + ", negotiated";
  return event.label + ", bucket " + std::to_string(bucket.planned->index);
}

}  // namespace

std::vector<std::string> TracePrinter::Head() {
  const auto epoch = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return {R"({"name":"process_name","ph":"M","pid":0,"args":{"start_time_since_epoch_in_micros":)" +
              std::to_string(epoch.count()) + "}}",
          R"({"name":"process_sort_index","ph":"M","pid":0,"args":{"sort_index":0}})"};
}

std::vector<std::string> TracePrinter::Print(const std::vector<TraceEvent>& events) {
  records_.clear();
  for (const auto& event : events) PrintOne(event);
  return std::move(records_);
}

void TracePrinter::PrintOne(const TraceEvent& event) {
  const std::string when =
      R"(,"ts":)" + std::to_string(Micros(std::max(event.at, start_) - start_));
  if (event.what == What::kCycle) {
    records_.push_back(R"({"ph":"i","name":"CYCLE_START")" + when + R"(,"s":"g"})");
  } else if (event.what >= What::kBucketBegin) {
    PrintOfSet(event, when);
  } else {
    PrintOfTensor(event, when);
  }
}

void TracePrinter::PrintOfTensor(const TraceEvent& event, const std::string& when) {
  Tensor& tensor = Find(event.tensor);
  const std::string where = when + R"(,"pid":)" + std::to_string(tensor.pid);
  const std::string name = R"(,"name":)" + JsonString(event.label);
  switch (event.what) {
    case What::kBegin: {
      ++tensor.open;
      const auto* bucket = std::get_if<BucketFacts>(&event.facts);
      records_.push_back(R"({"ph":"B")" + name + where + (bucket ? ArgsOf(*bucket) : "") + "}");
      break;
    }
    case What::kEnd:
      End(tensor, where, "");
      break;
    case What::kEndAll:
    case What::kDropAll:
      while (tensor.open > 1) End(tensor, where, "");
      End(tensor, where, runtime::ArgsOf(event));
      break;
    default:  // ticks
      records_.push_back(R"({"ph":"X")" + name + where + R"(,"dur":0})");
      break;
  }
}

void TracePrinter::PrintOfSet(const TraceEvent& event, const std::string& when) {
  if (const auto* bucket = std::get_if<BucketFacts>(&event.facts)) {
    const int lane = BucketLane(bucket->set);
    if (event.what == What::kBucketEnd) return End(lane, when, "");
    Begin(lane, when, NameOfBucket(event, *bucket), ArgsOf(*bucket));
  } else if (const auto* plan = std::get_if<PlanFacts>(&event.facts)) {
    Begin(PlanLane(plan->set), when, "PLAN", runtime::ArgsOf(*plan));
  } else if (const auto* over = std::get_if<PlanOver>(&event.facts)) {
    End(PlanLane(over->set), when, runtime::ArgsOf(*over));
  } else if (const auto* step = std::get_if<StepFacts>(&event.facts)) {
    const std::string where = OnLane(PlanLane(step->set));
    records_.push_back(R"({"ph":"i","name":"STEP","s":"t")" + when + where +
                       runtime::ArgsOf(*step) + "}");
  }
}

void TracePrinter::Begin(int lane, const std::string& when, const std::string& name,
                         const std::string& args) {
  const std::string where = OnLane(lane);
  if (lanes_[lane]) End(lane, when, "");  // its end was dropped
  lanes_[lane] = true;
  records_.push_back(R"({"ph":"B","name":)" + JsonString(name) + when + where + args + "}");
}

void TracePrinter::End(int lane, const std::string& when, const std::string& args) {
  const std::string where = OnLane(lane);
  if (!std::exchange(lanes_[lane], false)) return;
  records_.push_back(R"({"ph":"E")" + when + where + args + "}");
}

void TracePrinter::End(Tensor& tensor, const std::string& where, const std::string& args) {
  if (tensor.open == 0) return;
  --tensor.open;
  records_.push_back(R"({"ph":"E")" + where + args + "}");
}

std::string TracePrinter::OnLane(int lane) {
  std::string where = R"(,"pid":0,"tid":)" + std::to_string(lane);
  if (lanes_.try_emplace(lane, false).second) {
    const std::string what = lane % 2 == 0 ? "plans" : "buckets";
    records_.push_back(R"({"name":"thread_name","ph":"M")" + where +
                       Args().Add("name", what + " of set " + std::to_string(lane / 2)).text() +
                       "}");
  }
  return where;
}

std::string TracePrinter::ArgsOf(const BucketFacts& bucket) const {
  if (bucket.number < 0) return "";
  Args args;
  args.Add("bucket", bucket.number).Add("set", bucket.set);
  if (const auto& planned = bucket.planned) {
    args.Add("plan", planned->plan).Add("step", planned->step).Add("index", planned->index);
  }
  if (bucket.tensors > 0) args.Add("tensors", bucket.tensors).Add("bytes", bucket.bytes);
  if (!bucket.algorithm.empty()) args.Add("algorithm", bucket.algorithm);
  if (bucket.predicted) {
    // On the clock of "ts".
    args.Add("predicted_start", Micros(bucket.predicted->first - start_))
        .Add("predicted_end", Micros(bucket.predicted->second - start_));
  }
  return args.text();
}

TracePrinter::Tensor& TracePrinter::Find(const std::string& name) {
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

}  // namespace horovodx::runtime
