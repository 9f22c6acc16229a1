#include "horovodx/negotiation/request_book.h"

#include <algorithm>
#include <utility>

#include "horovodx/negotiation/plan_watcher.h"

namespace horovodx::negotiation {

using State = RequestBook::Tensor::State;

RequestBook::Tensor& RequestBook::Add(std::shared_ptr<const Request> request, bool planned) {
  const std::string& name = request->name;
  const bool passes = PassesPlans(*request);
  Erase(name);
  Tensor& tensor = tensors_[name];
  if (!planned || passes) kept_.push_back(name);
  passing_ += passes ? 1 : 0;
  tensor.order = submissions_++;
  if (request->kind == Kind::kJoin && join_.empty()) {
    join_ = name;
    join_order_ = tensor.order;
  }
  tensor.request = std::move(request);
  return tensor;
}

void RequestBook::Erase(const std::string& name) {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) return;
  passing_ -= PassesPlans(*it->second.request) ? 1 : 0;
  tensors_.erase(it);
}

RequestBook::Tensor* RequestBook::Find(const std::string& name) {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : &it->second;
}

std::vector<RequestBook::Tensor*> RequestBook::Unanswered() {
  std::vector<Tensor*> found;
  for (auto& [name, tensor] : tensors_) {
    if (tensor.state != State::kAnswered) found.push_back(&tensor);
  }
  std::sort(found.begin(), found.end(),
            [](const Tensor* a, const Tensor* b) { return a->order < b->order; });
  return found;
}

Ready RequestBook::Take(std::uint32_t epoch) { return Say(std::exchange(kept_, {}), epoch); }

Ready RequestBook::TakePassing(std::uint32_t epoch) {
  if (passing_ == 0) return Ready{};
  const auto passes = [this](const std::string& name) {
    const Tensor* tensor = Find(name);
    return tensor != nullptr && PassesPlans(*tensor->request);
  };
  const auto rest = std::stable_partition(kept_.begin(), kept_.end(), passes);
  const std::vector<std::string> names(kept_.begin(), rest);
  kept_.erase(kept_.begin(), rest);
  return Say(names, epoch);
}

// What may not be said yet is kept.
Ready RequestBook::Say(const std::vector<std::string>& names, std::uint32_t epoch) {
  Ready ready;
  ready.epoch = epoch;
  for (const std::string& name : names) {
    Tensor* tensor = Find(name);
    if (tensor == nullptr || tensor->state != State::kKept) continue;
    if (joining() && tensor->order > join_order_) {
      kept_.push_back(name);
      continue;
    }
    const auto known = known_.find(tensor->request->name);
    const bool same = known != known_.end() && (known->second.request == tensor->request ||
                                                *known->second.request == *tensor->request);
    tensor->state = State::kSent;
    tensor->sent_id = same ? known->second.id : 0;
    if (same) {
      ready.cached.push_back(tensor->sent_id);
    } else {
      ready.requests.push_back(*tensor->request);
    }
  }
  return ready;
}

void RequestBook::KeepAll() {
  kept_.clear();
  for (Tensor* tensor : Unanswered()) {
    tensor->state = State::kKept;
    kept_.push_back(tensor->request->name);
  }
}

Ready RequestBook::Resend(const std::vector<std::uint64_t>& ids, std::uint32_t epoch) {
  Ready ready;
  ready.epoch = epoch;
  for (std::uint64_t id : ids) Forget(id);
  for (Tensor* tensor : Unanswered()) {
    const bool asked = tensor->state == State::kSent && tensor->sent_id != 0 &&
                       std::find(ids.begin(), ids.end(), tensor->sent_id) != ids.end();
    if (!asked) continue;
    tensor->sent_id = 0;
    ready.requests.push_back(*tensor->request);
  }
  ready.resent = static_cast<std::uint32_t>(ready.requests.size());
  return ready;
}

bool RequestBook::Answer(const std::string& name, std::uint64_t cache_id) {
  ++entries_seen_;
  Tensor* tensor = Find(name);
  if (tensor == nullptr || tensor->state != State::kSent) return false;
  tensor->state = State::kAnswered;
  Remember(name, tensor->request);
  if (use_cache_ && cache_id != 0) {
    Known& known = known_[name];
    name_of_id_.erase(known.id);
    known = {cache_id, tensor->request};
    name_of_id_[cache_id] = name;
  }
  return true;
}

void RequestBook::Forget(std::uint64_t cache_id) {
  const auto it = name_of_id_.find(cache_id);
  if (it == name_of_id_.end()) return;
  known_.erase(it->second);
  name_of_id_.erase(it);
}

bool RequestBook::AnswerJoin() {
  ++entries_seen_;
  Tensor* tensor = joining() ? Find(join_) : nullptr;
  if (tensor == nullptr || tensor->state != State::kSent) return false;
  tensor->state = State::kAnswered;
  answered_join_ = std::exchange(join_, "");
  return true;
}

std::shared_ptr<const Request> RequestBook::LastOf(const std::string& name) const {
  const auto it = last_.find(name);
  return it == last_.end() ? nullptr : it->second.request;
}

// A plan is made of what ran lately, never longer than kMostPlanned entries back.
void RequestBook::Remember(const std::string& name, std::shared_ptr<const Request> request) {
  last_[name] = {std::move(request), entries_seen_};
  history_.emplace_back(entries_seen_, name);
  while (history_.front().first + kMostPlanned < entries_seen_) {
    const auto it = last_.find(history_.front().second);
    if (it != last_.end() && it->second.at == history_.front().first) last_.erase(it);
    history_.pop_front();
  }
}

}  // namespace horovodx::negotiation
