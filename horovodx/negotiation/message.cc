#include "horovodx/negotiation/message.h"

#include <utility>

namespace horovodx::negotiation {

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kAllreduce:
      return "ALLREDUCE";
    case Kind::kAllgather:
      return "ALLGATHER";
    case Kind::kBroadcast:
      return "BROADCAST";
    case Kind::kJoin:
      return "JOIN";
    case Kind::kAdasum:
      return "ADASUM";
    case Kind::kAlltoall:
      return "ALLTOALL";
    case Kind::kBarrier:
      return "BARRIER";
    case Kind::kReducescatter:
      return "REDUCESCATTER";
    case Kind::kError:
      return "ERROR";
  }
  return "UNKNOWN";
}

bool PassesPlans(const Request& request) {
  return request.kind == Kind::kBarrier && request.group.empty();
}

bool Bucket::operator==(const Bucket& other) const {
  return kind == other.kind && type == other.type && op == other.op && root == other.root &&
         device == other.device && prescale == other.prescale && postscale == other.postscale &&
         entries == other.entries && error.code() == other.error.code() &&
         error.message() == other.error.message() && last_joined == other.last_joined &&
         algorithms == other.algorithms && segment == other.segment && streams == other.streams;
}

void Append(std::vector<UpRecord>& records, std::vector<std::int32_t> from, UpMessage message) {
  UpRecord& record = records.emplace_back();
  record.from = std::move(from);
  record.message = std::move(message);
}

void Append(std::vector<DownRecord>& records, std::vector<std::int32_t> to, DownMessage message) {
  DownRecord& record = records.emplace_back();
  record.to = std::move(to);
  record.message = std::move(message);
}

}  // namespace horovodx::negotiation
