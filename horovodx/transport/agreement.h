// Council: how a few ranks agree on something through the store, before they are connected.
//
// Everyone says a word; the first member hears all of them and decides; everyone hears the
// decision. That is two keys a member, whatever the number of members, and all leave with the same
// answer. A member that does not show up is named by everyone, not only by the first, in words for
// who has to find out why: no key of the store is in them. If it has left a note of why it gave up,
// everyone hears that too, and so the rank that was missing to it.
//
// Thread: the caller's; calls block until all have spoken or the deadline.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/rendezvous/store.h"

namespace horovodx::transport {

class Council {
 public:
  // `key` starts all keys of this council; it is used for one agreement. `names` are the members in
  // order, as error messages call them: "rank 3 on node7". `missed` is what who does not come has
  // failed to do: "it has not called hvd.init()"; `notes` the keys under which each says why it
  // gave up, if it does. The store is borrowed.
  Council(rendezvous::Store& store, std::string key, std::vector<std::string> names, int me,
          std::string missed, std::vector<std::string> notes = {})
      : store_(&store),
        key_(std::move(key)),
        names_(std::move(names)),
        notes_(std::move(notes)),
        me_(me),
        missed_(std::move(missed)) {}

  int me() const { return me_; }
  int size() const { return static_cast<int>(names_.size()); }
  const std::string& name(int member) const { return names_[member]; }
  // Where words and the decision are said.
  std::string WordKey(int member) const { return key_ + "/word/" + std::to_string(member); }
  std::string DecisionKey() const { return key_ + "/decision"; }
  // The same members about another question.
  Council About(const std::string& question) const;

  // What the first member said; `word` counts only on the first.
  Result<std::string> HearFirst(const std::string& word, const Deadline& deadline) const;
  // From everyone's word to the decision. `decide` runs on the first member.
  using Decide = std::function<std::string(const std::vector<std::string>& words)>;
  Result<std::string> Agree(const std::string& word, const Decide& decide,
                            const Deadline& deadline) const;

 private:
  Result<std::string> HearAllAndDecide(const std::string& word, const Decide& decide,
                                       const Deadline& deadline) const;
  Status Missing(int member, const Status& why, TimePoint since) const;
  Status FindMissing(const Status& why, TimePoint since) const;

  rendezvous::Store* store_;
  std::string key_;
  std::vector<std::string> names_;
  std::vector<std::string> notes_;  // or empty
  int me_;
  std::string missed_;
};

}  // namespace horovodx::transport
