#include "horovodx/collectives/team.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "horovodx/base/check.h"
#include "horovodx/collectives/arrival_report.h"
#include "horovodx/collectives/frame.h"
#include "horovodx/collectives/segment.h"

namespace horovodx::collectives {
namespace {

constexpr int kNobody = -1;

std::vector<int> AllOf(const transport::Mesh& mesh) {
  std::vector<int> all(mesh.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

class Team::Wire {
 public:
  explicit Wire(transport::Mesh& the_mesh)
      : mesh(the_mesh), writers(the_mesh.size()), readers(the_mesh.size()) {}

  // Both by mesh rank; kNobody: nothing in that direction.
  Status Exchange(int to, std::span<const ConstBytes> out, int from,
                  std::span<const MutableBytes> in, std::size_t unit, const OnArrival& on_arrival);
  void Begin(int to, std::span<const ConstBytes> out, int from, std::span<const MutableBytes> in);
  // Moves what can be moved now; the number of bytes, or an error.
  Result<std::size_t> Pump(int to, int from);
  bool Done(int to, int from) const {
    return (to == kNobody || writers[to].done()) && (from == kNobody || readers[from].done());
  }
  transport::InLink* AwaitedIn(int from) {
    const bool reading = from != kNobody && !readers[from].done() && !readers[from].overtaken();
    return reading ? &mesh.In(from) : nullptr;
  }
  transport::OutLink* AwaitedOut(int to) {
    return to != kNobody && !writers[to].done() ? &mesh.Out(to) : nullptr;
  }
  void Abandon(int to, int from) {
    if (to != kNobody) writers[to].Abandon();
    if (from != kNobody) readers[from].Abandon();
  }

  transport::Mesh& mesh;
  std::vector<FrameWriter> writers;
  std::vector<FrameReader> readers;
  std::uint32_t epoch = 0;
  Duration time_limit = std::chrono::seconds(30);
  std::size_t segment = 0;
  Traffic traffic;
  std::atomic<std::uint64_t> movements{0};  // relaxed: it tells of nothing else
  Companion* companion = nullptr;           // borrowed

 private:
  Status AwaitProgress(int to, int from);
};

void Team::Wire::Begin(int to, std::span<const ConstBytes> out, int from,
                       std::span<const MutableBytes> in) {
  if (to != kNobody) {
    writers[to].Begin(epoch, out);
    ++traffic.messages;
    for (const auto& piece : out) traffic.bytes += piece.size();
  }
  if (from != kNobody) readers[from].Begin(epoch, in);
}

Result<std::size_t> Team::Wire::Pump(int to, int from) {
  std::size_t moved = 0;
  if (to != kNobody && !writers[to].done()) {
    HVDX_ASSIGN_OR_RETURN(moved, writers[to].Pump(mesh.Out(to)));
  }
  if (from != kNobody && !readers[from].done()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t read, readers[from].Pump(mesh.In(from)));
    moved += read;
  }
  if (moved > 0) movements.fetch_add(1, std::memory_order_relaxed);
  return moved;
}

Status Team::Wire::AwaitProgress(int to, int from) {
  const Deadline deadline = Deadline::After(time_limit);
  transport::InLink* const in = AwaitedIn(from);
  transport::OutLink* const out = AwaitedOut(to);
  if (companion == nullptr) return mesh.Await(in, out, deadline);
  transport::InLink* const ins[] = {in, companion->awaited_in()};
  transport::OutLink* const outs[] = {out, companion->awaited_out()};
  return mesh.AwaitAny(ins, outs, deadline);
}

Status Team::Wire::Exchange(int to, std::span<const ConstBytes> out, int from,
                            std::span<const MutableBytes> in, std::size_t unit,
                            const OnArrival& on_arrival) {
  Begin(to, out, from, in);
  ArrivalReport report(on_arrival, unit);
  while (true) {
    const std::size_t arrived = from != kNobody ? readers[from].arrived() : 0;
    auto moved = Pump(to, from);
    Status status = moved.status();
    if (status.ok() && from != kNobody) {
      report.Update(readers[from].arrived(), readers[from].done());
    }
    if (status.ok() && Done(to, from)) return Status::Ok();
    if (status.ok() && companion != nullptr) {
      auto beside = companion->Pump();
      status = beside.status();
      if (status.ok()) moved = *moved + *beside;
    }
    // Who has just sent the last byte waits for an answer, which takes longer than a look at once.
    const bool only_sent = companion == nullptr && from != kNobody && to != kNobody &&
                           writers[to].done() && readers[from].arrived() == arrived;
    if (status.ok() && (*moved == 0 || only_sent)) status = AwaitProgress(to, from);
    if (status.ok()) continue;
    Abandon(to, from);
    return status;
  }
}

Team::Team(transport::Mesh& mesh) : Team(std::make_shared<Wire>(mesh), AllOf(mesh), mesh.rank()) {}

Team::Team(std::shared_ptr<Wire> wire, std::vector<int> members, int rank)
    : wire_(std::move(wire)),
      members_(std::move(members)),
      rank_(rank),
      hosts_(wire_->mesh.hosts().Subset(members_)) {}

Team::~Team() = default;
Team::Team(Team&&) noexcept = default;

Team Team::Sub(const std::vector<int>& ranks) const {
  std::vector<int> members;
  for (int rank : ranks) members.push_back(members_[rank]);
  const auto me = std::find(ranks.begin(), ranks.end(), rank_);
  HVDX_CHECK(me != ranks.end());
  return Team(wire_, std::move(members), static_cast<int>(me - ranks.begin()));
}

transport::Stage* Team::stage() const {
  const auto& mesh_hosts = wire_->mesh.hosts();
  const auto& here = mesh_hosts.ranks_on(mesh_hosts.host_of(wire_->mesh.rank()));
  return members_ == here ? wire_->mesh.stage() : nullptr;
}

Status Team::Exchange(int to, std::span<const ConstBytes> out, int from,
                      std::span<const MutableBytes> in, std::size_t unit,
                      const OnArrival& on_arrival) {
  return wire_->Exchange(members_[to], out, members_[from], in, unit, on_arrival);
}

Status Team::Send(int to, std::span<const ConstBytes> out) {
  return wire_->Exchange(members_[to], out, kNobody, {}, 0, nullptr);
}

Status Team::Receive(int from, std::span<const MutableBytes> in, std::size_t unit,
                     const OnArrival& on_arrival) {
  return wire_->Exchange(kNobody, {}, members_[from], in, unit, on_arrival);
}

void Team::Begin(int to, std::span<const ConstBytes> out, int from,
                 std::span<const MutableBytes> in) {
  wire_->Begin(Member(to), out, Member(from), in);
}
Result<std::size_t> Team::Pump(int to, int from) { return wire_->Pump(Member(to), Member(from)); }
bool Team::Done(int to, int from) const { return wire_->Done(Member(to), Member(from)); }
std::size_t Team::Arrived(int from) const { return wire_->readers[members_[from]].arrived(); }
bool Team::Complete(int from) const { return wire_->readers[members_[from]].done(); }
void Team::GiveUp(int to, int from) { wire_->Abandon(Member(to), Member(from)); }
transport::InLink* Team::AwaitedIn(int from) { return wire_->AwaitedIn(Member(from)); }
transport::OutLink* Team::AwaitedOut(int to) { return wire_->AwaitedOut(Member(to)); }

void Team::SetCompanion(Companion* companion) { wire_->companion = companion; }

Status Team::AwaitCompanion() {
  transport::InLink* const ins[] = {wire_->companion->awaited_in()};
  transport::OutLink* const outs[] = {wire_->companion->awaited_out()};
  return wire_->mesh.AwaitAny(ins, outs, Deadline::After(wire_->time_limit));
}

void Team::EnterEpoch(std::uint32_t epoch) { wire_->epoch = epoch; }
void Team::SetTimeLimit(Duration limit) { wire_->time_limit = limit; }
Duration Team::time_limit() const { return wire_->time_limit; }

void Team::SetSegment(std::size_t bytes) {
  HVDX_CHECK(IsSegment(bytes));
  wire_->segment = bytes;
}
std::size_t Team::SegmentOr(std::size_t own) const {
  return wire_->segment == 0 ? own : wire_->segment;
}

transport::NativeAllreduce* Team::native() const {
  return members_ == AllOf(wire_->mesh) ? wire_->mesh.native() : nullptr;
}
Traffic Team::traffic() const { return wire_->traffic; }
std::uint64_t Team::movements() const { return wire_->movements.load(std::memory_order_relaxed); }

}  // namespace horovodx::collectives
