#include "horovodx/transport/agreement.h"

#include <utility>

namespace horovodx::transport {
namespace {

// How long to look for one word when a time limit has passed and the culprit is to be named.
constexpr double kLookSeconds = 0.2;
// How long to look for the note of who is missing: it has had the same time limit, perhaps a little
// later.
constexpr double kNoteSeconds = 0.5;

}  // namespace

Council Council::About(const std::string& question) const {
  return Council(*store_, key_ + "/" + question, names_, me_, notes_);
}

Result<std::string> Council::HearFirst(const std::string& word, const Deadline& deadline) const {
  if (me_ == 0) {
    HVDX_RETURN_IF_ERROR(store_->Set(WordKey(0), word));
    return word;
  }
  auto heard = store_->Get(WordKey(0), deadline);
  if (!heard.ok()) return Missing(0, heard.status());
  return heard;
}

Result<std::string> Council::Agree(const std::string& word, const Decide& decide,
                                   const Deadline& deadline) const {
  if (me_ == 0) return HearAllAndDecide(word, decide, deadline);
  HVDX_RETURN_IF_ERROR(store_->Set(WordKey(me_), word));
  auto decision = store_->Get(DecisionKey(), deadline);
  if (!decision.ok()) return FindMissing(decision.status());
  return decision;
}

Result<std::string> Council::HearAllAndDecide(const std::string& word, const Decide& decide,
                                              const Deadline& deadline) const {
  // Said aloud too, so that others who look for the missing one do not find me.
  HVDX_RETURN_IF_ERROR(store_->Set(WordKey(0), word));
  std::vector<std::string> words{word};
  for (int member = 1; member < size(); ++member) {
    auto heard = store_->Get(WordKey(member), deadline);
    if (!heard.ok()) return Missing(member, heard.status());
    words.push_back(std::move(heard).value());
  }
  std::string decision = decide(words);
  HVDX_RETURN_IF_ERROR(store_->Set(DecisionKey(), decision));
  return decision;
}

Status Council::Missing(int member, const Status& why) const {
  // Without the store nobody can be heard: that says nothing about the member.
  if (why.code() == StatusCode::kAborted) return why;
  if (!notes_.empty()) {
    const auto note = store_->Get(notes_[member], Deadline::After(Seconds(kNoteSeconds)));
    if (note.ok()) return {why.code(), names_[member] + " gave up: " + note.value()};
  }
  return {why.code(), names_[member] + " is missing: " + why.message()};
}

Status Council::FindMissing(const Status& why) const {
  for (int member = 0; member < size(); ++member) {
    if (member == me_) continue;
    auto heard = store_->Get(WordKey(member), Deadline::After(Seconds(kLookSeconds)));
    if (!heard.ok()) return Missing(member, heard.status());
  }
  return Missing(0, why);
}

}  // namespace horovodx::transport
