#include "horovodx/negotiation/wire.h"
#include "horovodx/negotiation/wire_parts.h"
#include "horovodx/negotiation/wire_writer.h"

namespace horovodx::negotiation {
namespace {

void Write(WireWriter& w, const Request& r) {
  w.Number(static_cast<std::uint8_t>(r.kind));
  w.Number(static_cast<std::uint8_t>(r.type));
  w.Number(static_cast<std::uint8_t>(r.op));
  w.Text(r.name);
  w.Number(r.root);
  w.Number(r.device);
  w.Numbers(r.shape);
  w.Real(r.prescale);
  w.Real(r.postscale);
  w.Text(r.group);
  w.Number(r.group_size);
}

void Write(WireWriter& w, const Entry& e) {
  w.Text(e.name);
  w.Number(e.elements);
  w.Numbers(e.shape);
  w.Numbers(e.first_dims);
}

void Write(WireWriter& w, const Bucket& b) {
  w.Number(static_cast<std::uint8_t>(b.kind));
  w.Number(static_cast<std::uint8_t>(b.type));
  w.Number(static_cast<std::uint8_t>(b.op));
  w.Number(b.root);
  w.Number(b.device);
  w.Real(b.prescale);
  w.Real(b.postscale);
  w.List(b.entries, [&](const Entry& e) { Write(w, e); });
  w.Number(static_cast<std::uint8_t>(b.error.code()));
  w.Text(b.error.message());
  w.Number(b.last_joined);
  w.Numbers(b.algorithms);
  w.Number(b.segment);
  w.Number(b.streams);
}

void WriteBuckets(WireWriter& w, const std::vector<Bucket>& buckets) {
  w.List(buckets, [&](const Bucket& b) { Write(w, b); });
}

// --- up

void Write(WireWriter& w, const Ready& m) {
  w.Number(m.set);
  w.Number(m.epoch);
  w.List(m.requests, [&](const Request& r) { Write(w, r); });
  w.Numbers(m.cached);
  w.Number(m.resent);
}
void WritePlace(WireWriter& w, std::int32_t set, std::uint32_t epoch, std::uint64_t bucket) {
  w.Number(set);
  w.Number(epoch);
  w.Number(bucket);
}
void Write(WireWriter& w, const Leave& m) {
  WritePlace(w, m.set, m.epoch, m.bucket);
  w.Text(m.why);
}
void Write(WireWriter& w, const Stuck& m) { WritePlace(w, m.set, m.epoch, m.bucket); }
void Write(WireWriter& w, const AddSet& m) { w.Numbers(m.ranks); }
void Write(WireWriter& w, const RemoveSet& m) { w.Number(m.set); }
void Write(WireWriter&, const WantShutdown&) {}
void Write(WireWriter&, const Drained&) {}
void Write(WireWriter& w, const Lost& m) {
  w.Number(m.rank);
  w.Text(m.why);
}

// --- down

void Write(WireWriter& w, const Run& m) {
  w.Number(m.set);
  WriteBuckets(w, m.buckets);
  w.Numbers(m.cache_ids);
  w.Numbers(m.evicted);
}
void Write(WireWriter& w, const StartPlan& m) {
  w.Number(m.set);
  w.Number(m.epoch);
  WriteBuckets(w, m.buckets);
}
void Write(WireWriter& w, const PleaseLeave& m) {
  w.Number(m.set);
  w.Number(m.epoch);
}
void Write(WireWriter& w, const EndPlan& m) { WritePlace(w, m.set, m.epoch, m.bucket); }
void Write(WireWriter& w, const Resend& m) {
  w.Number(m.set);
  w.Number(m.epoch);
  w.Numbers(m.ids);
}
void Write(WireWriter& w, const SetAdded& m) {
  w.Number(m.set);
  w.Number(m.channel);
  w.Numbers(m.ranks);
}
void Write(WireWriter& w, const SetRemoved& m) { w.Number(m.set); }
void Write(WireWriter& w, const SetRefused& m) {
  w.Number(m.code);
  w.Text(m.why);
}
void Write(WireWriter& w, const Shutdown& m) { w.Text(m.why); }
void Write(WireWriter&, const Close&) {}
void Write(WireWriter& w, const Failed& m) {
  w.Number(m.rank);
  w.Text(m.why);
}

template <typename Record, typename Ranks>
std::vector<std::byte> EncodeAll(std::uint8_t direction, const std::vector<Record>& records,
                                 Ranks ranks) {
  WireWriter w;
  w.Number(kWireMagic);
  w.Number(kWireVersion);
  w.Number(direction);
  w.List(records, [&](const Record& record) {
    w.Numbers(ranks(record));
    // The tag is the place in the variant: alternatives are only ever appended.
    w.Number(static_cast<std::uint8_t>(record.message.index()));
    std::visit([&](const auto& message) { Write(w, message); }, record.message);
  });
  return w.Take();
}

}  // namespace

std::vector<std::byte> Encode(const std::vector<UpRecord>& records) {
  return EncodeAll(
      kWireUp, records, [](const UpRecord& r) -> auto& { return r.from; });
}

std::vector<std::byte> Encode(const std::vector<DownRecord>& records) {
  return EncodeAll(
      kWireDown, records, [](const DownRecord& r) -> auto& { return r.to; });
}

}  // namespace horovodx::negotiation
