#include "horovodx/transport/process/claim.h"

#include <array>

#include "horovodx/base/hex.h"
#include "horovodx/base/random.h"

namespace horovodx::transport::process {
namespace {

const std::string kAlarm = "twice ";

// Whoever waits for a word or for the decision hears this instead; so does who comes later.
Status RaiseAlarm(rendezvous::Store& store, const Council& world, const Status& why) {
  const std::string alarm = kAlarm + why.message();
  for (int rank = 0; rank < world.size(); ++rank) {
    HVDX_RETURN_IF_ERROR(store.Set(world.WordKey(rank), alarm));
  }
  HVDX_RETURN_IF_ERROR(store.Set(world.DecisionKey(), alarm));
  return why;
}

Status Judge(rendezvous::Store& store, const Council& world, const Place& mine,
             const std::string& said) {
  if (IsAlarm(said)) return FromAlarm(said);
  return RaiseAlarm(store, world, SaidTwice(world.me(), mine, said));
}

}  // namespace

Status ClaimRank(rendezvous::Store& store, const Council& world, const Place& mine) {
  const std::string key = world.WordKey(world.me());
  const std::string word = mine.ToWord();
  const auto before = store.Get(key, Deadline::After(Duration::zero()));
  if (before.ok()) return Judge(store, world, mine, before.value());
  HVDX_RETURN_IF_ERROR(store.Set(key, word));
  HVDX_ASSIGN_OR_RETURN(const std::string after, store.Get(key, Deadline::After(Seconds(1))));
  return after == word ? Status::Ok() : Judge(store, world, mine, after);
}

Result<std::string> NameThisProcess() {
  std::array<std::byte, 8> bytes{};
  HVDX_RETURN_IF_ERROR(FillRandom(bytes));
  return HexOf(bytes);
}

bool IsAlarm(const std::string& word) { return word.starts_with(kAlarm); }

Status FromAlarm(const std::string& word) {
  return Status::InvalidArgument(word.substr(kAlarm.size(), word.find('\n') - kAlarm.size()));
}

Status SaidTwice(int rank, const Place& mine, const std::string& said) {
  Place other;
  const std::string where = ParsePlace(said, &other) ? other.hostname : "an unknown host";
  return Status::InvalidArgument("HOROVOD_RANK is '" + std::to_string(rank) +
                                 "' in two processes, on " + where + " and on " + mine.hostname +
                                 "; expected rank " + std::to_string(rank) + " once");
}

}  // namespace horovodx::transport::process
