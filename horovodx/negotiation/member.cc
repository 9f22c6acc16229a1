#include "horovodx/negotiation/member.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "horovodx/negotiation/plan_cursor.h"
#include "horovodx/negotiation/request_book.h"

namespace horovodx::negotiation {

namespace {

bool MovesNothing(const Bucket& bucket) {
  return bucket.kind == Kind::kBarrier || bucket.kind == Kind::kError;
}

std::uint8_t AlgorithmOf(const Bucket& bucket, std::uint64_t round) {
  if (bucket.algorithms.empty()) return kByRules;
  return bucket.algorithms[std::min<std::uint64_t>(round, bucket.algorithms.size() - 1)];
}

}  // namespace

// Negotiating, a submission is sent and waits for a Run. In a plan, it is kept and counted; what is
// off the plan makes this member leave it, between buckets. Having left, it hands out nothing of
// the plan until EndPlan; then everything unanswered is asked for again. What passes plans is asked
// for at any time.
struct Member::Impl {
  explicit Impl(MemberOptions given)
      : options(given), book(given.cache_capacity), patience(given.patience) {}

  struct Agreed {
    Bucket bucket;
    std::uint32_t epoch = 0;
    std::uint64_t number = 0;
    std::vector<bool> absent;
  };

  bool running_planned() const { return running && running_work.planned; }
  Status Broken(const std::string& what) const {
    return Status::Unknown("negotiation: set " + std::to_string(options.set) + ", epoch " +
                           std::to_string(epoch) + ": " + what);
  }

  // --- submissions ------------------------------------------------------------------------------

  void Submit(std::shared_ptr<const Request> request, TimePoint now) {
    const RequestBook::Tensor& tensor = book.Add(std::move(request), plan != nullptr);
    last_progress = now;
    if (plan && !ending) Place(tensor);
    MayLeave();
  }
  // In a plan: where a tensor belongs.
  void Place(const RequestBook::Tensor& tensor) {
    if (PassesPlans(*tensor.request)) return;
    const auto it = planned.find(tensor.request->name);
    if (it != planned.end() && *it->second == *tensor.request) {
      plan->Add(tensor.request->name);
      CheckWaited(tensor);
    } else {
      WantToLeave(tensor, it == planned.end() ? "is not in the plan"
                                              : "is asked for otherwise than planned");
    }
  }
  void CheckWaited(const RequestBook::Tensor& tensor) {
    if (tensor.waited && plan->Contains(tensor.request->name) &&
        !plan->Reachable(tensor.request->name)) {
      WantToLeave(tensor, "is waited for, but its bucket or one before it lacks a tensor");
    }
  }
  void WantToLeave(const RequestBook::Tensor& tensor, const char* why) {
    if (!off_plan) WantToLeave("'" + tensor.request->name + "' " + why);
  }
  // The first reason counts.
  void WantToLeave(std::string why) {
    if (!off_plan) why_leave = std::move(why);
    off_plan = true;
  }
  void Waited(const std::string& name) {
    RequestBook::Tensor* tensor = book.Find(name);
    if (tensor == nullptr || tensor->state == RequestBook::Tensor::State::kAnswered) return;
    tensor->waited = true;
    if (plan && !ending) CheckWaited(*tensor);
    MayLeave();
  }
  void MayLeave() {
    if (!plan || ending || left || !off_plan || running_planned()) return;
    left = true;
    out.push_back(Leave{options.set, epoch, plan->cursor(), why_leave});
  }

  // --- what comes down --------------------------------------------------------------------------

  Status On(const Run& run, TimePoint) {
    if (plan && !ending && !std::all_of(run.buckets.begin(), run.buckets.end(), MovesNothing)) {
      return Broken("something was agreed while a plan is in force");
    }
    std::size_t entries = 0;
    for (const Bucket& bucket : run.buckets) entries += bucket.entries.size();
    if (!run.cache_ids.empty() && run.cache_ids.size() != entries) {
      return Broken("a Run of " + std::to_string(entries) + " tensors has " +
                    std::to_string(run.cache_ids.size()) + " cache ids");
    }
    std::size_t next = 0;
    for (const Bucket& bucket : run.buckets) {
      const auto id = [&] { return run.cache_ids.empty() ? 0 : run.cache_ids[next]; };
      Agreed agreed{bucket, epoch, agreed_count++, {}};
      for (std::size_t i = 0; i < bucket.entries.size(); ++i, ++next) {
        HVDX_RETURN_IF_ERROR(Answer(bucket, i, id(), agreed.absent));
      }
      queue.push_back(std::move(agreed));
    }
    for (std::uint64_t id : run.evicted) book.Forget(id);
    return Status::Ok();
  }
  Status Answer(const Bucket& bucket, std::size_t i, std::uint64_t id, std::vector<bool>& absent) {
    const std::string& name = bucket.entries[i].name;
    if (bucket.kind == Kind::kJoin) {
      return book.AnswerJoin() ? Status::Ok() : Broken("all have joined, without this rank");
    }
    if (book.Answer(name, id)) return Status::Ok();
    if (!book.joining()) return Broken("'" + name + "' was agreed on, but not by this rank");
    absent.resize(bucket.entries.size());
    absent[i] = true;
    return Status::Ok();
  }

  Status On(const StartPlan& start, TimePoint now) {
    if (plan || start.epoch != epoch + 1) return Broken("a plan starts out of turn");
    HVDX_ASSIGN_OR_RETURN(PlanCursor cursor, PlanCursor::Make(start.buckets));
    planned.clear();
    for (const Bucket& bucket : cursor.buckets()) {
      for (const Entry& entry : bucket.entries) {
        auto last = book.LastOf(entry.name);
        if (last == nullptr) return Broken("a plan has '" + entry.name + "', which did not run");
        planned[entry.name] = std::move(last);
      }
    }
    plan = std::make_unique<PlanCursor>(std::move(cursor));
    epoch = start.epoch;
    left = off_plan = stuck_said = false;
    last_progress = now;
    book.KeepAll();
    // All first, then who is waited for: the last tensor may be what the first one needs.
    for (RequestBook::Tensor* tensor : book.Unanswered()) {
      const bool waited = std::exchange(tensor->waited, false);
      Place(*tensor);
      tensor->waited = waited;
    }
    for (RequestBook::Tensor* tensor : book.Unanswered()) CheckWaited(*tensor);
    MayLeave();
    return Status::Ok();
  }

  Status On(const PleaseLeave& please, TimePoint) {
    if (plan && !ending && please.epoch == epoch) {
      WantToLeave("was asked to");
      MayLeave();
    }
    return Status::Ok();
  }

  Status On(const EndPlan& end, TimePoint) {
    if (!plan || ending || end.epoch != epoch + 1) return Broken("a plan ends out of turn");
    // The one who left has finished all before `bucket`, so this member has given its part to them;
    // and gave nothing to it, so nobody has finished it.
    const std::uint64_t cursor = plan->cursor();
    const bool last_one_runs = running_planned() && end.bucket == cursor + 1;
    if (end.bucket != cursor && !last_one_runs) {
      return Broken("the plan ends before bucket " + std::to_string(end.bucket) +
                    ", this rank is at bucket " + std::to_string(cursor));
    }
    epoch = end.epoch;
    ending = true;
    drop = running_planned() && end.bucket == cursor;
    if (!running_planned()) EndNow();
    return Status::Ok();
  }
  void EndNow() {
    plan.reset();
    planned.clear();
    ending = drop = left = off_plan = false;
    book.KeepAll();
  }

  Status On(const Resend& resend, TimePoint) {
    if (resend.epoch != epoch || plan) return Status::Ok();
    Ready ready = book.Resend(resend.ids, epoch);
    ready.set = options.set;
    if (!ready.requests.empty()) out.push_back(std::move(ready));
    return Status::Ok();
  }
  template <typename Other>
  Status On(const Other&, TimePoint) {
    return Status::Ok();
  }

  // --- what runs --------------------------------------------------------------------------------

  std::optional<Work> Next() {
    if (running) return running_work;
    if (!queue.empty()) {
      const Agreed& agreed = queue.front();
      running_work = {
          &agreed.bucket, agreed.epoch, false, agreed.number, AlgorithmOf(agreed.bucket, 0),
          agreed.absent};
    } else if (plan && !ending && !left && plan->complete()) {
      const std::uint64_t round = plan->cursor() / plan->buckets().size();
      running_work = {
          &plan->bucket(), epoch, true, plan->cursor(), AlgorithmOf(plan->bucket(), round), {}};
    } else {
      return std::nullopt;
    }
    running = true;
    return running_work;
  }
  void Finished(TimePoint now) {
    if (!running) return;
    last_progress = now;
    for (const Entry& entry : running_work.bucket->entries) Erase(entry.name);
    if (running_work.bucket->kind == Kind::kJoin) Erase(book.answered_join());
    running = false;
    if (!running_work.planned) {
      queue.pop_front();
      return;
    }
    plan->Advance();
    stuck_said = false;
    if (ending) EndNow();
    MayLeave();
  }
  // A joined rank may hold back a tensor of the same name for later: that one has not run.
  void Erase(const std::string& name) {
    const RequestBook::Tensor* tensor = book.Find(name);
    if (tensor == nullptr) return;
    const bool ran = running_work.planned || tensor->state == RequestBook::Tensor::State::kAnswered;
    if (ran) book.Erase(name);
  }
  void Dropped() {
    if (!running_planned() || !drop) return;
    running = false;
    EndNow();
  }

  // --- time and messages ------------------------------------------------------------------------

  TimePoint NextTime() const {
    const bool waits = book.size() > book.passing();  // for something of the plan
    if (!plan || ending || left || stuck_said || !waits) return TimePoint::max();
    return last_progress + patience;
  }
  void OnTime(TimePoint now) {
    if (now < NextTime()) return;
    patience = std::min(2 * patience, options.most_patience);
    if (running_planned()) {
      // This rank has given its part and cannot leave by itself; who has not, can.
      stuck_said = true;
      out.push_back(Stuck{options.set, epoch, plan->cursor()});
      return;
    }
    WantToLeave("waited for long for the rest of bucket " +
                std::to_string(plan->cursor() % plan->buckets().size()));
    MayLeave();
  }
  std::vector<UpMessage> TakeMessages() {
    if (!ending) {
      Ready ready = plan ? book.TakePassing(epoch) : book.Take(epoch);
      ready.set = options.set;
      if (!ready.requests.empty() || !ready.cached.empty()) out.push_back(std::move(ready));
    }
    return std::exchange(out, {});
  }

  MemberOptions options;
  RequestBook book;
  std::uint32_t epoch = 0;
  std::vector<UpMessage> out;

  std::deque<Agreed> queue;  // the front one may be running
  std::uint64_t agreed_count = 0;
  bool running = false;
  Work running_work;

  std::unique_ptr<PlanCursor> plan;
  std::unordered_map<std::string, std::shared_ptr<const Request>> planned;  // own request by name
  bool off_plan = false;    // something makes this member leave
  std::string why_leave;    // what
  bool left = false;        // has said so
  bool ending = false;      // EndPlan is here, a planned bucket still runs
  bool drop = false;        // and must be given up
  bool stuck_said = false;  // about the bucket at the cursor
  Duration patience;
  TimePoint last_progress;
};

Member::Member(MemberOptions options) : impl_(std::make_unique<Impl>(options)) {}
Member::~Member() = default;

void Member::Submit(std::shared_ptr<const Request> request, TimePoint now) {
  impl_->Submit(std::move(request), now);
}
void Member::Waited(const std::string& name) { impl_->Waited(name); }
void Member::AbandonPlan() {
  if (!impl_->plan || impl_->ending) return;
  impl_->WantToLeave("ends its plans");
  impl_->MayLeave();
}
Status Member::OnMessage(const DownMessage& message, TimePoint now) {
  return std::visit([&](const auto& m) { return impl_->On(m, now); }, message);
}
std::optional<Work> Member::Next() { return impl_->Next(); }
void Member::Finished(TimePoint now) { impl_->Finished(now); }
bool Member::drop_wanted() const { return impl_->drop; }
void Member::Dropped(TimePoint) { impl_->Dropped(); }
std::vector<UpMessage> Member::TakeMessages() { return impl_->TakeMessages(); }
TimePoint Member::next_time() const { return impl_->NextTime(); }
void Member::OnTime(TimePoint now) { impl_->OnTime(now); }
void Member::Moved(TimePoint now) { impl_->last_progress = now; }
bool Member::in_plan() const { return impl_->plan != nullptr; }
std::uint32_t Member::epoch() const { return impl_->epoch; }
std::size_t Member::missing() const {
  return impl_->plan && !impl_->ending && !impl_->left ? impl_->plan->missing() : 0;
}
bool Member::idle() const { return impl_->queue.empty() && !impl_->running && !impl_->plan; }
std::size_t Member::outstanding() const { return impl_->book.size(); }

}  // namespace horovodx::negotiation
