#include "horovodx/transport/shm/share.h"

#include <utility>
#include <vector>

namespace horovodx::transport::shm {
namespace {

constexpr char kYes[] = "yes";
constexpr char kNo[] = "no: ";

bool Allowed(Kind kind, const ShareOptions& options) {
  return kind == Kind::kUnnamed ? options.unnamed : options.named;
}

std::string Word(const Result<Segment>& mine) {
  return mine.ok() ? kYes : kNo + mine.status().message();
}

std::string Reason(const Council& council, int member, const std::string& no) {
  return council.name(member) + ": " + (no.starts_with(kNo) ? no.substr(sizeof(kNo) - 1) : no);
}

// Everyone has it, or the first who has not and why.
std::string Verdict(const Council& council, const std::vector<std::string>& words) {
  for (int member = 0; member < council.size(); ++member) {
    if (words[member] != kYes) return Reason(council, member, words[member]);
  }
  return kYes;
}

Result<Shared> Try(const Council& council, Kind kind, const Shape& shape,
                   const ShareOptions& options, const Deadline& deadline) {
  Result<Segment> mine = Status::Aborted("switched off");
  if (council.me() == 0 && Allowed(kind, options)) mine = Segment::Make(kind, shape);
  const std::string offer = mine.ok() ? mine->ticket() : Word(mine);
  HVDX_ASSIGN_OR_RETURN(const std::string ticket, council.HearFirst(offer, deadline));
  if (ticket.starts_with(kNo)) return Shared{std::nullopt, Reason(council, 0, ticket)};
  if (council.me() != 0 && Allowed(kind, options)) {
    mine = Segment::Open(ticket, shape, council.me());
  }
  const auto decide = [&](const auto& words) { return Verdict(council, words); };
  HVDX_ASSIGN_OR_RETURN(const std::string verdict,
                        council.About("opened").Agree(Word(mine), decide, deadline));
  if (verdict != kYes) return Shared{std::nullopt, verdict};
  mine->CloseDoor();
  return Shared{std::move(mine).value(), {}};
}

}  // namespace

Result<Shared> ShareSegment(const Council& council, const Shape& shape, const ShareOptions& options,
                            const Deadline& deadline) {
  if (council.size() == 1) {
    auto alone = Segment::MakePrivate(shape);
    if (!alone.ok()) return Shared{std::nullopt, alone.status().message()};
    return Shared{std::move(alone).value(), {}};
  }
  std::string why_not;
  for (Kind kind : {Kind::kUnnamed, Kind::kNamed}) {
    const Council about = council.About(kind == Kind::kUnnamed ? "unnamed" : "named");
    HVDX_ASSIGN_OR_RETURN(Shared shared, Try(about, kind, shape, options, deadline));
    if (shared.segment.has_value()) return shared;
    why_not += (why_not.empty() ? "" : "; ") + (NameOf(kind) + (" fails on " + shared.why_not));
  }
  return Shared{std::nullopt, why_not};
}

}  // namespace horovodx::transport::shm
