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
  // Tensors of one group become ready together. Empty: no group.
  std::string group;
  std::uint32_t group_size = 0;

  bool operator==(const Request&) const = default;
};

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
};
// "I leave the plan of this epoch; I have finished all buckets before `bucket` and given nothing to
// it."
struct Leave {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::uint64_t bucket = 0;
};
// Every rank of the world asks for the same set; then it exists.
struct AddSet {
  std::vector<std::int32_t> ranks;
};
struct RemoveSet {
  std::int32_t set = 0;
};
struct WantShutdown {};
// "I have finished everything that came before Shutdown."
struct Drained {};
// "My neighbour `rank` is gone."
struct Lost {
  std::int32_t rank = -1;
  std::string why;
};
using UpMessage = std::variant<Ready, Leave, AddSet, RemoveSet, WantShutdown, Drained, Lost>;

// --- down
// -----------------------------------------------------------------------------------------

struct Run {
  std::int32_t set = 0;
  std::vector<Bucket> buckets;
  // Ids under which the requests of these buckets are cached from now on, in the order of the
  // entries; 0: not cached. Members send the id instead of the request while their request is
  // unchanged.
  std::vector<std::uint64_t> cache_ids;
  std::vector<std::uint64_t> evicted;
};
// From here on the set follows this plan, again and again, without asking. It starts epoch `epoch`.
struct StartPlan {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::vector<Bucket> buckets;
};
// The plan of epoch `epoch - 1` ends before its bucket number `bucket` (counted over all rounds).
// Requests start afresh, in epoch `epoch`.
struct EndPlan {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::uint64_t bucket = 0;
};
// "I no longer know these ids: send the requests in full."
struct Resend {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::vector<std::uint64_t> ids;
};
struct SetAdded {
  std::int32_t set = 0;
  std::uint32_t channel = 0;  // never used before in this job
  std::vector<std::int32_t> ranks;
};
struct SetRemoved {
  std::int32_t set = 0;
};
// AddSet or RemoveSet cannot be done; `code` is one of Horovod's (-6 exists already, ...).
struct SetRefused {
  std::int32_t code = 0;
  std::string why;
};
// Finish what came before, fail the rest with "Horovod has been shut down", then say Drained.
struct Shutdown {
  std::string why;
};
struct Close {};  // all have drained
// A rank is gone: everything outstanding fails with this.
struct Failed {
  std::int32_t rank = -1;
  std::string why;
};
using DownMessage = std::variant<Run, StartPlan, EndPlan, Resend, SetAdded, SetRemoved, SetRefused,
                                 Shutdown, Close, Failed>;

// A message with who says it, or whom it is for. The first rank of a host passes messages on for
// the others of its host; equal messages travel once with several ranks.
struct UpRecord {
  std::vector<std::int32_t> from;
  UpMessage message;
};
struct DownRecord {
  std::vector<std::int32_t> to;
  DownMessage message;
};

}  // namespace horovodx::negotiation
