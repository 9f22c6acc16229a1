#include "horovodx/transport/agreement.h"

#include <cmath>
#include <sstream>
#include <utility>

namespace horovodx::transport {
namespace {

// How long to look for one word when a time limit has passed and the culprit is to be named.
constexpr double kLookSeconds = 0.2;
// How long to look for the note of who is missing: it has had the same time limit, perhaps a little
// later.
constexpr double kNoteSeconds = 0.5;

// To a tenth: "8 s", "7.9 s".
std::string SecondsSince(TimePoint begin) {
  std::ostringstream text;
  text << static_cast<double>(std::lround(10 * ToSeconds(Clock::now() - begin))) / 10 << " s";
  return text.str();
}

}  // namespace

Council Council::About(const std::string& question) const {
  return Council(*store_, key_ + "/" + question, names_, me_, missed_, notes_);
}

Result<std::string> Council::HearFirst(const std::string& word, const Deadline& deadline) const {
  if (me_ == 0) {
    HVDX_RETURN_IF_ERROR(store_->Set(WordKey(0), word));
    return word;
  }
  const TimePoint begin = Clock::now();
  auto heard = store_->Get(WordKey(0), deadline);
  if (!heard.ok()) return Missing(0, heard.status(), begin);
  return heard;
}

Result<std::string> Council::Agree(const std::string& word, const Decide& decide,
                                   const Deadline& deadline) const {
  if (me_ == 0) return HearAllAndDecide(word, decide, deadline);
  const TimePoint begin = Clock::now();
  HVDX_RETURN_IF_ERROR(store_->Set(WordKey(me_), word));
  auto decision = store_->Get(DecisionKey(), deadline);
  if (!decision.ok()) return FindMissing(decision.status(), begin);
  return decision;
}

Result<std::string> Council::HearAllAndDecide(const std::string& word, const Decide& decide,
                                              const Deadline& deadline) const {
  const TimePoint begin = Clock::now();
  // Said aloud too, so that others who look for the missing one do not find me.
  HVDX_RETURN_IF_ERROR(store_->Set(WordKey(0), word));
  std::vector<std::string> words{word};
  for (int member = 1; member < size(); ++member) {
    auto heard = store_->Get(WordKey(member), deadline);
    if (!heard.ok()) return Missing(member, heard.status(), begin);
    words.push_back(std::move(heard).value());
  }
  std::string decision = decide(words);
  HVDX_RETURN_IF_ERROR(store_->Set(DecisionKey(), decision));
  return decision;
}

Status Council::Missing(int member, const Status& why, TimePoint since) const {
  // Without the store nobody can be heard: that says nothing about the member.
  if (why.code() != StatusCode::kUnknown) return why;
  if (!notes_.empty()) {
    const auto note = store_->Get(notes_[member], Deadline::After(Seconds(kNoteSeconds)));
    if (note.ok()) return {why.code(), names_[member] + " gave up: " + note.value()};
  }
  return Status::Unknown(
      names_[member] + " is missing: " + missed_ + " within " + SecondsSince(since) +
      ". Its process hangs, has ended, or cannot be reached over the network: look at what it "
      "printed last, and whether its host answers. If it only needs longer, raise "
      "HOROVOD_GLOO_TIMEOUT_SECONDS");
}

Status Council::FindMissing(const Status& why, TimePoint since) const {
  for (int member = 0; member < size(); ++member) {
    if (member == me_) continue;
    auto heard = store_->Get(WordKey(member), Deadline::After(Seconds(kLookSeconds)));
    if (!heard.ok()) return Missing(member, heard.status(), since);
  }
  return Missing(0, why, since);
}

}  // namespace horovodx::transport
