#include "horovodx/collectives/team.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "horovodx/base/check.h"
#include "horovodx/collectives/frame.h"

namespace horovodx::collectives {
namespace {

constexpr int kNobody = -1;
// Arrivals are reported in stretches of at least this, so that a reduction is worth its call.
constexpr std::size_t kArrivalBytes = 64 << 10;

std::vector<int> AllOf(const transport::Mesh& mesh) {
  std::vector<int> all(mesh.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Reports what has arrived of a message, in stretches of whole units.
class ArrivalReport {
 public:
  ArrivalReport(const OnArrival& on_arrival, std::size_t unit)
      : on_arrival_(on_arrival), unit_(std::max<std::size_t>(unit, 1)) {}
  void Update(std::size_t arrived, bool complete) {
    if (on_arrival_ == nullptr) return;
    const std::size_t end = complete ? arrived : arrived - arrived % unit_;
    if (end == reported_ || (!complete && end - reported_ < kArrivalBytes)) return;
    on_arrival_(reported_, end);
    reported_ = end;
  }

 private:
  const OnArrival& on_arrival_;
  std::size_t unit_;
  std::size_t reported_ = 0;
};

}  // namespace

class Team::Wire {
 public:
  explicit Wire(transport::Mesh& the_mesh)
      : mesh(the_mesh), writers(the_mesh.size()), readers(the_mesh.size()) {}

  // Both by mesh rank; kNobody: nothing in that direction.
  Status Exchange(int to, std::span<const ConstBytes> out, int from,
                  std::span<const MutableBytes> in, std::size_t unit, const OnArrival& on_arrival);
  void Abandon(int to, int from) {
    if (to != kNobody) writers[to].Abandon();
    if (from != kNobody) readers[from].Abandon();
  }

  transport::Mesh& mesh;
  std::vector<FrameWriter> writers;
  std::vector<FrameReader> readers;
  std::uint32_t epoch = 0;
  Duration time_limit = std::chrono::seconds(30);
  Traffic traffic;

 private:
  // Moves what can be moved now; the number of bytes, or an error.
  Result<std::size_t> Pump(int to, int from, ArrivalReport& report);
  Status AwaitProgress(int to, int from);
};

Result<std::size_t> Team::Wire::Pump(int to, int from, ArrivalReport& report) {
  std::size_t moved = 0;
  if (to != kNobody && !writers[to].done()) {
    HVDX_ASSIGN_OR_RETURN(moved, writers[to].Pump(mesh.Out(to)));
  }
  if (from != kNobody && !readers[from].done()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t read, readers[from].Pump(mesh.In(from)));
    moved += read;
    report.Update(readers[from].arrived(), readers[from].done());
  }
  return moved;
}

Status Team::Wire::AwaitProgress(int to, int from) {
  const bool reading = from != kNobody && !readers[from].done() && !readers[from].overtaken();
  const bool writing = to != kNobody && !writers[to].done();
  return mesh.Await(reading ? &mesh.In(from) : nullptr, writing ? &mesh.Out(to) : nullptr,
                    Deadline::After(time_limit));
}

Status Team::Wire::Exchange(int to, std::span<const ConstBytes> out, int from,
                            std::span<const MutableBytes> in, std::size_t unit,
                            const OnArrival& on_arrival) {
  if (to != kNobody) {
    writers[to].Begin(epoch, out);
    ++traffic.messages;
    for (const auto& piece : out) traffic.bytes += piece.size();
  }
  if (from != kNobody) readers[from].Begin(epoch, in);
  ArrivalReport report(on_arrival, unit);
  while (true) {
    auto moved = Pump(to, from, report);
    Status status = moved.status();
    const bool done =
        (to == kNobody || writers[to].done()) && (from == kNobody || readers[from].done());
    if (status.ok() && done) return Status::Ok();
    if (status.ok() && *moved == 0) status = AwaitProgress(to, from);
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

void Team::EnterEpoch(std::uint32_t epoch) { wire_->epoch = epoch; }
void Team::SetTimeLimit(Duration limit) { wire_->time_limit = limit; }
Duration Team::time_limit() const { return wire_->time_limit; }

transport::NativeAllreduce* Team::native() const {
  return members_ == AllOf(wire_->mesh) ? wire_->mesh.native() : nullptr;
}
Traffic Team::traffic() const { return wire_->traffic; }

}  // namespace horovodx::collectives
