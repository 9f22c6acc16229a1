// Member: one rank's half of the agreement for one process set. Pure: no clock, no thread, no I/O.
//
// The engine feeds it submissions and messages, and asks it what to send and what to run. It has at
// most one bucket running at a time; buckets run in the same order on all members.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

struct MemberOptions {
  std::int32_t set = 0;
  std::size_t cache_capacity = 1024;
  // A planned step that makes no progress for this long leaves its plan; doubles each time that
  // happened, up to `most_patience`.
  Duration patience = std::chrono::seconds(1);
  Duration most_patience = std::chrono::seconds(30);
};

// A bucket to run now.
struct Work {
  const Bucket* bucket = nullptr;  // valid until Finished or Dropped
  std::uint32_t epoch = 0;
  bool planned = false;
  // Planned: the bucket's number since the plan started, over all rounds. Negotiated: its number
  // among all negotiated buckets of the set. The same on all members.
  std::uint64_t number = 0;
  // Of Bucket::algorithms, the one for this time; kByRules if there are none.
  std::uint8_t algorithm = kByRules;
  // Only on a rank that has joined: which entries it has not asked for and takes part in with
  // zeros. Empty: none.
  std::vector<bool> absent;
};

class Member {
 public:
  explicit Member(MemberOptions options);
  ~Member();

  // A tensor of this rank is ready. The name is not outstanding.
  void Submit(std::shared_ptr<const Request> request, TimePoint now);
  void Submit(Request request, TimePoint now) {
    Submit(std::make_shared<const Request>(std::move(request)), now);
  }
  // A caller is blocked on this tensor (or polls for it).
  void Waited(const std::string& name);
  // This rank wants the plan to end (shutdown, a set to be removed): negotiation goes on without
  // one.
  void AbandonPlan();

  // Run, StartPlan, PleaseLeave, EndPlan or Resend of this set, in order; others are ignored. An
  // error is a broken protocol.
  Status OnMessage(const DownMessage& message, TimePoint now);

  // What runs next, if it can start now. Stays the same until Finished() or Dropped().
  std::optional<Work> Next();
  void Finished(TimePoint now);
  // True when the planned bucket that is running must be given up: somebody left before it. The
  // engine stops it, makes sure nothing of it is kept, and calls Dropped(). (It may finish instead,
  // if it is an earlier bucket: then this is not true.)
  bool drop_wanted() const;
  void Dropped(TimePoint now);

  // Messages for the coordinator since the last call.
  std::vector<UpMessage> TakeMessages();

  // Call OnTime at or after this time (TimePoint::max(): no need), or Moved if the bucket that runs
  // has moved since the last such call: then it is slow, but nobody is missing.
  TimePoint next_time() const;
  void OnTime(TimePoint now);
  void Moved(TimePoint now);

  bool in_plan() const;
  std::uint32_t epoch() const;
  // In a plan: how many more of my tensors the next bucket needs before it can start; 0 if none or
  // not in a plan. The engine need not wake up for fewer.
  std::size_t missing() const;
  // True when nothing negotiated is left to run and no plan is in force.
  bool idle() const;
  // Tensors submitted that have not finished.
  std::size_t outstanding() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace horovodx::negotiation
