// What this member has asked for and how: its outstanding tensors, what it last asked for under
// each name, and the ids under which the coordinator knows that. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

class RequestBook {
 public:
  explicit RequestBook(std::size_t cache_capacity) : use_cache_(cache_capacity > 0) {}

  struct Tensor {
    std::shared_ptr<const Request> request;
    std::uint64_t order = 0;  // of submission
    enum class State { kKept, kSent, kAnswered } state = State::kKept;
    std::uint64_t sent_id = 0;  // sent as this id; 0: in full
    bool waited = false;
  };

  // `planned`: there is a plan, so it is not to be said unless KeepAll() says otherwise; a request
  // that passes plans is said anyway.
  Tensor& Add(std::shared_ptr<const Request> request, bool planned);
  Tensor* Find(const std::string& name);
  void Erase(const std::string& name);
  std::size_t size() const { return tensors_.size(); }
  // Of them, those that pass plans.
  std::size_t passing() const { return passing_; }
  // Not answered yet, in order of submission.
  std::vector<Tensor*> Unanswered();

  // Everything kept that may be said now, marked as sent. While this rank joins, it says nothing
  // that was submitted after the join.
  Ready Take(std::uint32_t epoch);
  // The same, in a plan: only what passes plans.
  Ready TakePassing(std::uint32_t epoch);
  // Sends are void: everything unanswered is kept again.
  void KeepAll();
  // The ids are unknown to the coordinator: says their requests in full.
  Ready Resend(const std::vector<std::uint64_t>& ids, std::uint32_t epoch);

  // A tensor in a Run, in the order of its entries; `name` may be somebody else's alone. False if
  // it is not this member's.
  bool Answer(const std::string& name, std::uint64_t cache_id);
  void Forget(std::uint64_t cache_id);
  // This rank's join is answered; false if there is none.
  bool AnswerJoin();
  bool joining() const { return !join_.empty(); }
  // The join that has been answered; to be erased with its bucket.
  const std::string& answered_join() const { return answered_join_; }

  // What this member asked for the last time this name ran; null: not lately.
  std::shared_ptr<const Request> LastOf(const std::string& name) const;

 private:
  struct Known {
    std::uint64_t id = 0;
    std::shared_ptr<const Request> request;
  };
  struct Last {
    std::shared_ptr<const Request> request;
    std::uint64_t at = 0;
  };
  void Remember(const std::string& name, std::shared_ptr<const Request> request);
  Ready Say(const std::vector<std::string>& names, std::uint32_t epoch);

  bool use_cache_;
  std::uint64_t submissions_ = 0;
  std::vector<std::string> kept_;  // to be said, in order of submission
  std::unordered_map<std::string, Tensor> tensors_;
  std::size_t passing_ = 0;
  std::string join_;  // name of the outstanding join
  std::uint64_t join_order_ = 0;
  std::string answered_join_;

  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::uint64_t, std::string> name_of_id_;

  std::uint64_t entries_seen_ = 0;  // the same on all members
  std::unordered_map<std::string, Last> last_;
  std::deque<std::pair<std::uint64_t, std::string>> history_;
};

}  // namespace horovodx::negotiation
