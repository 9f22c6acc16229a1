// Claim: a rank is one process, or everyone hears which rank is two.
//
// A process looks whether somebody has spoken for its rank, speaks, and looks whether the word is
// still its own. Whoever finds another's there tells all who wait, in place of every word that they
// wait for. Two processes that pass both looks at the same moment are told apart by what rank 0
// has heard (roll_call.cc).
//
// Thread: the caller's.
#pragma once

#include <string>

#include "horovodx/base/status.h"
#include "horovodx/rendezvous/store.h"
#include "horovodx/transport/agreement.h"
#include "horovodx/transport/process/place.h"

namespace horovodx::transport::process {

// Says `mine` as this rank's word in `world`; an error if another process has or does.
[[nodiscard]] Status ClaimRank(rendezvous::Store& store, const Council& world, const Place& mine);

// A process that nobody else is: 64 random bits.
[[nodiscard]] Result<std::string> NameThisProcess();

// What takes the place of words once a rank is known to be two.
bool IsAlarm(const std::string& word);
Status FromAlarm(const std::string& word);
// `said` is what was heard as this rank's word.
Status SaidTwice(int rank, const Place& mine, const std::string& said);

}  // namespace horovodx::transport::process
