// What ranks say to each other when they agree on what runs next. Plain data; wire.cc makes bytes
// of it.
//
// Rank 0 coordinates all process sets. Every rank has one Member a set; rank 0 also has the
// Coordinator. Up: members to the coordinator. Down: the coordinator to members; for each set the
// messages down are one ordered stream, the same for all its members.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "horovodx/base/status.h"
#include "kernels/types.h"

namespace horovodx::negotiation {

// Numbers are Horovod's; kError appears only in what comes down.
enum class Kind : std::uint8_t {
  kAllreduce = 0,
  kAllgather = 1,
  kBroadcast = 2,
  kJoin = 3,
  kAdasum = 4,
  kAlltoall = 5,
  kBarrier = 6,
  kReducescatter = 7,
  kError = 8,
};
const char* NameOf(Kind kind);  // "ALLREDUCE", as in messages and in the timeline

// One rank is ready to do this with its tensor of that name.
struct Request {
  Kind kind = Kind::kAllreduce;
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::string name;
  std::int32_t root = -1;    // set rank, for broadcast
  std::int32_t device = -1;  // -1 is CPU
  std::vector<std::int64_t> shape;
  double prescale = 1.0;
  double postscale = 1.0;
  // Tensors of one group become ready together. Empty: no group. The name is part of the request:
  // one that changes from step to step keeps the request out of the cache and out of plans.
  std::string group;
  std::uint32_t group_size = 0;

  bool operator==(const Request&) const = default;
};
// A barrier moves nothing: that all have asked for it is all there is to it. So it may be asked for
// and agreed on while a plan is in force, and runs at any place of it.
bool PassesPlans(const Request& request);

inline constexpr std::uint8_t kMostStreams = 64;

// In place of an algorithm: each rank applies the rules.
inline constexpr std::uint8_t kByRules = 255;

// One tensor of a bucket.
struct Entry {
  std::string name;
  std::uint64_t elements = 0;       // of a member's tensor (reductions, broadcast)
  std::vector<std::int64_t> shape;  // of the coordinator's view; first dimension free for gathers
  std::vector<std::int64_t> first_dims;  // allgather and alltoall: first dimension of every member

  bool operator==(const Entry&) const = default;
};

// What runs as one: tensors of one kind, type, operation and scaling; or an error for its tensors.
struct Bucket {
  Kind kind = Kind::kAllreduce;
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::int32_t root = -1;
  std::int32_t device = -1;
  double prescale = 1.0;
  double postscale = 1.0;
  std::vector<Entry> entries;
  Status error;                   // kind kError
  std::int32_t last_joined = -1;  // kind kJoin: the global rank that joined last
  // Kind kAllreduce: which of collectives::AllreduceAlgorithm runs. In a plan one a round, the last
  // for all rounds after. Empty: each rank applies the rules, which are the same everywhere.
  std::vector<std::uint8_t> algorithms;
  // Kind kAllreduce, over links: its segments in bytes (collectives/segment.h). 0: the algorithm's.
  std::uint32_t segment = 0;
  // How many sockets of a link are written to from here on, at most kMostStreams. 0: as before.
  std::uint8_t streams = 0;

  bool operator==(const Bucket& other) const;
};

// --- up
// -------------------------------------------------------------------------------------------

// Ready tensors of one set. `epoch` is the member's epoch of that set; what was sent in an older
// epoch than the coordinator's is void. `cached`: ids of requests the coordinator knows from its
// cache.
struct Ready {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::vector<Request> requests;
  std::vector<std::uint64_t> cached;
  // How many of `requests` answer a Resend. A rank that joins while it still owes such answers has
  // joined when it has given them.
  std::uint32_t resent = 0;

  bool operator==(const Ready&) const = default;
};
// "I leave the plan of this epoch; I have finished all buckets before `bucket` and given nothing to
// it."
struct Leave {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::uint64_t bucket = 0;
  std::string why = {};  // for people

  bool operator==(const Leave&) const = default;
};
// "I have given my part to this bucket and have waited for long: somebody may have to leave the
// plan who does not know it yet."
struct Stuck {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::uint64_t bucket = 0;

  bool operator==(const Stuck&) const = default;
};
// Every rank of the world asks for the same set; then it exists. A rank asks for one change of sets
// (AddSet, RemoveSet) at a time: the next one after the answer.
struct AddSet {
  std::vector<std::int32_t> ranks;

  bool operator==(const AddSet&) const = default;
};
struct RemoveSet {
  std::int32_t set = 0;

  bool operator==(const RemoveSet&) const = default;
};
struct WantShutdown {
  bool operator==(const WantShutdown&) const = default;
};
// "I have finished everything that came before Shutdown."
struct Drained {
  bool operator==(const Drained&) const = default;
};
// "My neighbour `rank` is gone."
struct Lost {
  std::int32_t rank = -1;
  std::string why;

  bool operator==(const Lost&) const = default;
};
using UpMessage = std::variant<Ready, Leave, AddSet, RemoveSet, WantShutdown, Drained, Lost, Stuck>;

// --- down
// -----------------------------------------------------------------------------------------

struct Run {
  std::int32_t set = 0;
  std::vector<Bucket> buckets;
  // Ids under which the requests of these buckets are cached from now on, in the order of the
  // entries; 0: not cached. Members send the id instead of the request while their request is
  // unchanged.
  std::vector<std::uint64_t> cache_ids;
  std::vector<std::uint64_t> evicted;  // ids that are known no longer; applied after `cache_ids`

  bool operator==(const Run&) const = default;
};
// From here on the set follows this plan, again and again, without asking. It starts epoch `epoch`.
struct StartPlan {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::vector<Bucket> buckets;

  bool operator==(const StartPlan&) const = default;
};
// "Leave the plan of this epoch as soon as you can": at the bucket you have not yet given to.
struct PleaseLeave {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;

  bool operator==(const PleaseLeave&) const = default;
};
// The plan of epoch `epoch - 1` ends before its bucket number `bucket` (counted over all rounds).
// Requests start afresh, in epoch `epoch`.
struct EndPlan {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::uint64_t bucket = 0;

  bool operator==(const EndPlan&) const = default;
};
// "I no longer know these ids: send the requests in full."
struct Resend {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::vector<std::uint64_t> ids;

  bool operator==(const Resend&) const = default;
};
struct SetAdded {
  std::int32_t set = 0;
  std::uint32_t channel = 0;  // never used before in this job
  std::vector<std::int32_t> ranks;

  bool operator==(const SetAdded&) const = default;
};
struct SetRemoved {
  std::int32_t set = 0;

  bool operator==(const SetRemoved&) const = default;
};
// AddSet or RemoveSet cannot be done; `code` is one of Horovod's, or kSetInvalid.
inline constexpr std::int32_t kSetsNotDynamic = -2;
inline constexpr std::int32_t kSetUnknown = -3;
inline constexpr std::int32_t kSetExists = -6;
inline constexpr std::int32_t kSetInvalid = -7;  // ranks do not agree, or no such ranks
struct SetRefused {
  std::int32_t code = 0;
  std::string why;

  bool operator==(const SetRefused&) const = default;
};
// Finish what came before, fail the rest with "Horovod has been shut down", then say Drained.
struct Shutdown {
  std::string why;

  bool operator==(const Shutdown&) const = default;
};
struct Close {  // all have drained
  bool operator==(const Close&) const = default;
};
// A rank is gone: everything outstanding fails with this.
struct Failed {
  std::int32_t rank = -1;
  std::string why;

  bool operator==(const Failed&) const = default;
};
using DownMessage = std::variant<Run, StartPlan, EndPlan, Resend, SetAdded, SetRemoved, SetRefused,
                                 Shutdown, Close, Failed, PleaseLeave>;

// A message with who says it, or whom it is for. The first rank of a host passes messages on for
// the others of its host; equal messages travel once with several ranks.
struct UpRecord {
  std::vector<std::int32_t> from;
  UpMessage message;

  bool operator==(const UpRecord&) const = default;
};
struct DownRecord {
  std::vector<std::int32_t> to;
  DownMessage message;

  bool operator==(const DownRecord&) const = default;
};
// Adds a record at the end.
void Append(std::vector<UpRecord>& records, std::vector<std::int32_t> from, UpMessage message);
void Append(std::vector<DownRecord>& records, std::vector<std::int32_t> to, DownMessage message);

}  // namespace horovodx::negotiation
