#include <utility>

#include "horovodx/collectives/segment.h"
#include "horovodx/collectives/select.h"
#include "horovodx/negotiation/wire.h"
#include "horovodx/negotiation/wire_parts.h"
#include "horovodx/negotiation/wire_reader.h"

namespace horovodx::negotiation {
namespace {

constexpr int kRequestKinds = static_cast<int>(Kind::kError);  // kError comes down only
constexpr int kBucketKinds = kRequestKinds + 1;
constexpr int kAlgorithms = static_cast<int>(collectives::kAllreduceAlgorithms);
constexpr int kStatusCodes = static_cast<int>(StatusCode::kCancelled) + 1;

ElementType ReadType(WireReader& r) {
  return r.OneOf<ElementType>(kElementTypes, "no such element type");
}
ReduceOp ReadOp(WireReader& r) { return r.OneOf<ReduceOp>(kReduceOps, "no such operation"); }

void Read(WireReader& r, Request& q) {
  q.kind = r.OneOf<Kind>(kRequestKinds, "no such kind of request");
  q.type = ReadType(r);
  q.op = ReadOp(r);
  q.name = r.Text();
  q.root = r.Number<std::int32_t>();
  q.device = r.Number<std::int32_t>();
  q.shape = r.Numbers<std::int64_t>();
  q.prescale = r.Real();
  q.postscale = r.Real();
  q.group = r.Text();
  q.group_size = r.Number<std::uint32_t>();
}

void Read(WireReader& r, Entry& e) {
  e.name = r.Text();
  e.elements = r.Number<std::uint64_t>();
  e.shape = r.Numbers<std::int64_t>();
  e.first_dims = r.Numbers<std::int64_t>();
}

void Read(WireReader& r, Bucket& b);

template <typename T>
std::vector<T> ReadList(WireReader& r, std::size_t least) {
  return r.List<T>(least, [&r] {
    T item;
    Read(r, item);
    return item;
  });
}

void Read(WireReader& r, Bucket& b) {
  b.kind = r.OneOf<Kind>(kBucketKinds, "no such kind of bucket");
  b.type = ReadType(r);
  b.op = ReadOp(r);
  b.root = r.Number<std::int32_t>();
  b.device = r.Number<std::int32_t>();
  b.prescale = r.Real();
  b.postscale = r.Real();
  b.entries = ReadList<Entry>(r, kLeastEntry);
  const auto code = r.OneOf<StatusCode>(kStatusCodes, "no such status");
  b.error = Status(code, r.Text());
  b.last_joined = r.Number<std::int32_t>();
  b.algorithms = r.List<std::uint8_t>(
      1, [&r] { return r.OneOf<std::uint8_t>(kAlgorithms, "no such algorithm"); });
  b.segment = r.Number<std::uint32_t>();
  if (!collectives::IsSegment(b.segment)) r.Fail("no such segment");
  b.streams = r.OneOf<std::uint8_t>(kMostStreams + 1, "too many streams");
}

// --- up

void Read(WireReader& r, Ready& m) {
  m.set = r.Number<std::int32_t>();
  m.epoch = r.Number<std::uint32_t>();
  m.requests = ReadList<Request>(r, kLeastRequest);
  m.cached = r.Numbers<std::uint64_t>();
  m.resent = r.Number<std::uint32_t>();
}
template <typename Place>
void ReadPlace(WireReader& r, Place& m) {
  m.set = r.Number<std::int32_t>();
  m.epoch = r.Number<std::uint32_t>();
  m.bucket = r.Number<std::uint64_t>();
}
void Read(WireReader& r, Leave& m) {
  ReadPlace(r, m);
  m.why = r.Text();
}
void Read(WireReader& r, Stuck& m) { ReadPlace(r, m); }
void Read(WireReader& r, AddSet& m) { m.ranks = r.Numbers<std::int32_t>(); }
void Read(WireReader& r, RemoveSet& m) { m.set = r.Number<std::int32_t>(); }
void Read(WireReader&, WantShutdown&) {}
void Read(WireReader&, Drained&) {}
void Read(WireReader& r, Lost& m) {
  m.rank = r.Number<std::int32_t>();
  m.why = r.Text();
}

// --- down

void Read(WireReader& r, Run& m) {
  m.set = r.Number<std::int32_t>();
  m.buckets = ReadList<Bucket>(r, kLeastBucket);
  m.cache_ids = r.Numbers<std::uint64_t>();
  m.evicted = r.Numbers<std::uint64_t>();
}
void Read(WireReader& r, StartPlan& m) {
  m.set = r.Number<std::int32_t>();
  m.epoch = r.Number<std::uint32_t>();
  m.buckets = ReadList<Bucket>(r, kLeastBucket);
}
void Read(WireReader& r, PleaseLeave& m) {
  m.set = r.Number<std::int32_t>();
  m.epoch = r.Number<std::uint32_t>();
}
void Read(WireReader& r, EndPlan& m) { ReadPlace(r, m); }
void Read(WireReader& r, Resend& m) {
  m.set = r.Number<std::int32_t>();
  m.epoch = r.Number<std::uint32_t>();
  m.ids = r.Numbers<std::uint64_t>();
}
void Read(WireReader& r, SetAdded& m) {
  m.set = r.Number<std::int32_t>();
  m.channel = r.Number<std::uint32_t>();
  m.ranks = r.Numbers<std::int32_t>();
}
void Read(WireReader& r, SetRemoved& m) { m.set = r.Number<std::int32_t>(); }
void Read(WireReader& r, SetRefused& m) {
  m.code = r.Number<std::int32_t>();
  m.why = r.Text();
}
void Read(WireReader& r, Shutdown& m) { m.why = r.Text(); }
void Read(WireReader&, Close&) {}
void Read(WireReader& r, Failed& m) {
  m.rank = r.Number<std::int32_t>();
  m.why = r.Text();
}

// The alternative with this tag.
template <typename Message, std::size_t... I>
bool ReadTagged(WireReader& r, std::size_t tag, Message& message, std::index_sequence<I...>) {
  return ((tag == I && (Read(r, message.template emplace<I>()), true)) || ...);
}
template <typename Message>
void ReadMessage(WireReader& r, Message& message) {
  const auto tag = r.Number<std::uint8_t>();
  if (!r.ok()) return;
  constexpr std::size_t kTags = std::variant_size_v<Message>;
  if (!ReadTagged(r, tag, message, std::make_index_sequence<kTags>())) r.Fail("no such message");
}

void ReadHeader(WireReader& r, std::uint8_t direction) {
  if (r.Number<std::uint16_t>() != kWireMagic) r.Fail("not a negotiation message");
  const auto version = r.Number<std::uint8_t>();
  if (version != kWireVersion) {
    r.Fail("version " + std::to_string(version) + " instead of " + std::to_string(kWireVersion) +
           ": all ranks must run the same HorovodX");
  }
  if (r.Number<std::uint8_t>() != direction) r.Fail("a message in the wrong direction");
}

template <typename Record, typename Ranks>
Result<std::vector<Record>> DecodeAll(std::uint8_t direction, ConstBytes bytes, Ranks ranks) {
  WireReader r(bytes);
  ReadHeader(r, direction);
  std::vector<Record> records = r.List<Record>(kLeastRecord, [&] {
    Record record;
    ranks(record) = r.Numbers<std::int32_t>();
    ReadMessage(r, record.message);
    return record;
  });
  r.End();
  if (!r.ok()) return r.status();
  return records;
}

}  // namespace

Result<std::vector<UpRecord>> DecodeUp(ConstBytes bytes) {
  return DecodeAll<UpRecord>(
      kWireUp, bytes, [](UpRecord & r) -> auto& { return r.from; });
}

Result<std::vector<DownRecord>> DecodeDown(ConstBytes bytes) {
  return DecodeAll<DownRecord>(
      kWireDown, bytes, [](DownRecord & r) -> auto& { return r.to; });
}

}  // namespace horovodx::negotiation
