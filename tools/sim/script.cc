#include "tools/sim/script.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "horovodx/schedule/cost_fit.h"
#include "tools/sim/cluster.h"
#include "tools/sim/simulate.h"

namespace horovodx::sim {
namespace {

constexpr std::size_t kMostTensors = 1'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

// The words of a line, taken one by one. The first that is wrong is remembered; the rest is 0.
class Words {
 public:
  explicit Words(const std::string& line) : in_(line) {}

  std::string Text(const char* what) {
    std::string word;
    if (!(in_ >> word)) Wrong(what, "is missing");
    return word;
  }
  std::string Rest() {
    std::string rest;
    std::getline(in_ >> std::ws, rest);
    return rest;
  }
  double Seconds(const char* what) {
    const std::string word = Text(what);
    double value = 0.0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool read = error == std::errc() && end == word.data() + word.size();
    if (read && std::isfinite(value) && value >= 0.0 && value <= 1e9) return value;
    Wrong(what, "'" + word + "' is not a number of seconds from 0 to 1e9");
    return 0.0;
  }
  std::uint64_t Whole(const char* what, std::uint64_t least, std::uint64_t most) {
    const std::string word = Text(what);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool read = error == std::errc() && end == word.data() + word.size();
    if (read && value >= least && value <= most) return value;
    Wrong(what, "'" + word + "' is not a whole number from " + std::to_string(least) + " to " +
                    std::to_string(most));
    return least;
  }
  std::uint64_t Bytes() { return Whole("bytes", 0, kMostBytes); }
  void Wrong(const std::string& what, const std::string& why) {
    if (wrong_.empty()) wrong_ = what + ": " + why;
  }
  void End() {
    std::string word;
    if (in_ >> word) Wrong("line", "'" + word + "' is too much");
  }
  const std::string& wrong() const { return wrong_; }

 private:
  std::istringstream in_;
  std::string wrong_;
};

class Script {
 public:
  explicit Script(std::ostream& out) : out_(out) { out_.precision(17); }

  void Line(Words& words) {
    using Verb = void (Script::*)(Words&);
    static const std::map<std::string, Verb> kVerbs = {
        {"layer", &Script::Layer},   {"tensor", &Script::Tensor}, {"rules", &Script::Rules},
        {"sample", &Script::Sample}, {"fit", &Script::Fit},       {"run", &Script::Run},
        {"cost", &Script::Cost},
    };
    const std::string verb = words.Text("line");
    if (const auto it = kVerbs.find(verb); it != kVerbs.end()) {
      (this->*it->second)(words);
    } else if (!Set(verb, words)) {
      words.Wrong("line", "no word '" + verb + "' is known");
    }
    words.End();
  }

 private:
  bool Set(const std::string& verb, Words& words) {
    if (verb == "forward") {
      forward_ = words.Seconds("forward");
    } else if (verb == "tail") {
      tail_ = words.Seconds("tail");
    } else if (verb == "host") {
      cluster_.host = LevelOf(words);
    } else if (verb == "net") {
      cluster_.net = LevelOf(words);
    } else if (verb == "reduce") {
      cluster_.reduce = words.Seconds("reduce");
    } else if (verb == "windows") {
      cluster_.windows = words.Whole("windows", 0, 1) != 0;
    } else if (verb == "threshold") {
      options_.threshold = words.Bytes();
    } else if (verb == "bucket_bytes") {
      options_.bucket_bytes = words.Bytes();
    } else {
      return false;
    }
    return true;
  }
  static Level LevelOf(Words& words) {
    const double latency = words.Seconds("latency");
    return {latency, words.Seconds("seconds a byte")};
  }
  void Layer(Words& words) {
    const double seconds = words.Seconds("backward time");
    Add(layers_, {seconds, words.Bytes(), 0, -1}, words);
  }
  void Tensor(Words& words) {
    const double seconds = words.Seconds("ready");
    Add(tensors_, {seconds, words.Bytes(), 0, -1}, words);
  }
  void Add(std::vector<schedule::Tensor>& to, schedule::Tensor tensor, Words& words) {
    if (to.size() >= kMostTensors) return words.Wrong("line", "more than a million tensors");
    to.push_back(tensor);
  }
  void Rules(Words& words) {
    auto rules = collectives::ParseAllreduceRules(words.Rest());
    if (!rules.ok()) return words.Wrong("rules", rules.status().message());
    cluster_.rules = std::move(rules).value();
  }
  void Sample(Words& words) {
    const std::uint64_t bytes = words.Bytes();
    fit_.Add(bytes, words.Seconds("sample"));
  }
  void Fit(Words&) {
    const schedule::CostModel fitted = fit_.Fit();
    for (const schedule::Piece& p : fitted.pieces()) {
      out_ << "piece " << p.from << ' ' << p.latency << ' ' << p.seconds_per_byte << '\n';
    }
  }
  // Reads hosts and ranks a host; what an allreduce by this algorithm then costs.
  void Place(const std::string& algorithm, Words& words) {
    cluster_.hosts = static_cast<int>(words.Whole("hosts", 1, 10'000'000));
    cluster_.ranks_per_host = static_cast<int>(words.Whole("ranks a host", 1, 100'000));
    if (static_cast<double>(cluster_.hosts) * cluster_.ranks_per_host > 1e8) {
      words.Wrong("hosts", "more than 100 million ranks");
    }
    choice_.reset();
    if (algorithm == "fitted") {
      options_.cost = fit_.Fit();
      return;
    }
    auto choice = Choice::Of(algorithm);
    if (!choice.ok()) return words.Wrong("algorithm", choice.status().message());
    choice_ = choice.value();
    options_.cost = CostOn(cluster_, *choice_);
  }
  std::string_view NameFor(std::uint64_t bytes) const {
    if (!choice_) return "fitted";
    return cluster_.ranks() == 1 ? "none" : NameOf(AlgorithmFor(*choice_, cluster_, bytes));
  }
  Workload Work() const {
    Workload work{forward_, 0.0, tensors_};
    for (std::size_t i = layers_.size(); i-- > 0;) {
      work.backward += layers_[i].ready;
      work.tensors.push_back({work.backward, layers_[i].bytes, 0, -1});
    }
    for (const schedule::Tensor& t : work.tensors) work.backward = std::max(work.backward, t.ready);
    work.backward += tail_;
    return work;
  }
  void Run(Words& words) {
    const std::string rule = words.Text("schedule");
    const auto names = schedule::RuleNames();
    if (std::find(names.begin(), names.end(), rule) == names.end()) {
      std::string known;
      for (const auto& name : names) known += (known.empty() ? "" : ", ") + std::string(name);
      words.Wrong("schedule", "no schedule '" + rule + "'; there are " + known);
    }
    Place(words.Text("algorithm"), words);
    const bool split = words.Whole("split", 0, 1) != 0;
    words.End();
    if (!layers_.empty() && !tensors_.empty()) words.Wrong("run", "both layers and tensors");
    if (!words.wrong().empty()) return;
    const Workload work = Work();
    Print(split ? SimulateSplit(work, rule, options_) : Simulate(work, rule, options_));
  }
  void Print(const Step& step) {
    out_ << "run " << step.seconds << ' ' << step.exposed << ' ' << step.busy << ' '
         << step.buckets.size() << '\n';
    for (std::size_t b = 0; b < step.buckets.size(); ++b) {
      const schedule::Played& p = step.played[b];
      out_ << "bucket " << step.buckets[b].front() << ' ' << step.buckets[b].back() + 1 << ' '
           << p.last << ' ' << p.bytes << ' ' << p.ready << ' ' << p.start << ' ' << p.end << ' '
           << NameFor(p.bytes);
      if (step.gathered.empty()) {
        out_ << " 0 0\n";
      } else {
        out_ << ' ' << step.gathered[b].start << ' ' << step.gathered[b].end << '\n';
      }
    }
  }
  void Cost(Words& words) {
    Place(words.Text("algorithm"), words);
    const std::uint64_t bytes = words.Bytes();
    if (!words.wrong().empty()) return;
    Traffic t;
    if (choice_ && cluster_.ranks() > 1) {
      t = TrafficOf(AlgorithmFor(*choice_, cluster_, bytes), cluster_, bytes);
    }
    out_ << "cost " << options_.cost.Seconds(bytes) << ' ' << t.host.steps << ' ' << t.net.steps
         << ' ' << t.host.path_bytes << ' ' << t.net.path_bytes << ' ' << NameFor(bytes) << '\n';
  }

  std::ostream& out_;
  double forward_ = 0.0;
  double tail_ = 0.0;
  std::vector<schedule::Tensor> layers_;  // ready: the backward time; in forward order
  std::vector<schedule::Tensor> tensors_;
  Cluster cluster_;
  schedule::Options options_;
  schedule::CostFit fit_{schedule::Piece{0, 100e-6, 1.0 / 4e9}};
  std::optional<Choice> choice_;  // none: fitted
};

}  // namespace

Status RunScript(std::istream& in, std::ostream& out) {
  Script script(out);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    Words words(line);
    script.Line(words);
    if (words.wrong().empty()) continue;
    return Status::InvalidArgument("line " + std::to_string(number) + ": " + words.wrong());
  }
  return Status::Ok();
}

}  // namespace horovodx::sim
