#include "horovodx/negotiation/validate.h"

#include <algorithm>
#include <sstream>

#include "horovodx/base/check.h"
#include "horovodx/negotiation/shape.h"

namespace horovodx::negotiation {
namespace {

// Every check looks at the first request and one other, and says what is wrong, or nothing.
struct Pair {
  const Request& a;
  const Request& b;
  const ValidateOptions& options;
};
using Check = std::string (*)(const Pair&);

bool Reduces(Kind kind) {
  return kind == Kind::kAllreduce || kind == Kind::kAdasum || kind == Kind::kReducescatter;
}
bool Gathers(Kind kind) { return kind == Kind::kAllgather || kind == Kind::kAlltoall; }

std::string Shapes(const Pair& p) {
  return std::string("Mismatched ") + NameOf(p.a.kind) + " tensor shapes: One rank sent a tensor ";
}

std::string CheckSane(const Pair& p) {
  if (IsShape(p.b.shape)) return "";
  return "Impossible tensor shape: One rank sent a tensor of shape " + ToString(p.b.shape) + ".";
}

std::string CheckType(const Pair& p) {
  if (p.a.type == p.b.type) return "";
  return std::string("Mismatched data types: One rank had type ") + NameOf(p.a.type) +
         ", but another rank had type " + NameOf(p.b.type) + ".";
}

std::string CheckKind(const Pair& p) {
  if (p.a.kind == p.b.kind) return "";
  return std::string("Mismatched operations: One rank did an ") + NameOf(p.a.kind) +
         ", but another rank did an " + NameOf(p.b.kind) + ".";
}

std::string CheckShape(const Pair& p) {
  if (!Reduces(p.a.kind) && p.a.kind != Kind::kBroadcast) return "";
  if (p.a.shape == p.b.shape) return "";
  return Shapes(p) + "of shape " + ToString(p.a.shape) +
         ", but another rank sent a tensor of shape " + ToString(p.b.shape) + ".";
}

std::string CheckFactors(const Pair& p) {
  if (p.a.prescale == p.b.prescale && p.a.postscale == p.b.postscale) return "";
  std::ostringstream text;
  text << "Mismatched prescale and/or postscale factors: One rank sent " << p.a.prescale << " and "
       << p.a.postscale << ", but another rank sent " << p.b.prescale << " and " << p.b.postscale
       << ".";
  return text.str();
}

std::string CheckOp(const Pair& p) {
  if (!Reduces(p.a.kind) || p.a.op == p.b.op) return "";
  return std::string("Mismatched reduction operation: One rank asked for ") + NameOf(p.a.op) +
         ", but another rank asked for " + NameOf(p.b.op) + ".";
}

std::string CheckDimensions(const Pair& p) {
  if (!Gathers(p.a.kind) || p.a.shape.size() == p.b.shape.size()) return "";
  return Shapes(p) + "of rank " + std::to_string(p.a.shape.size()) +
         ", but another rank sent a tensor of rank " + std::to_string(p.b.shape.size()) + ".";
}

std::string CheckOtherDimensions(const Pair& p) {
  if (!Gathers(p.a.kind)) return "";
  for (std::size_t i = 1; i < p.a.shape.size(); ++i) {
    if (p.a.shape[i] == p.b.shape[i]) continue;
    const std::string which = "with dimension " + std::to_string(i) + " equal to ";
    return Shapes(p) + which + std::to_string(p.a.shape[i]) + ", but another rank sent a tensor " +
           which + std::to_string(p.b.shape[i]) + ".";
  }
  return "";
}

std::string CheckRoot(const Pair& p) {
  if (p.a.kind != Kind::kBroadcast) return "";
  const auto size = static_cast<std::int32_t>(p.options.ranks.size());
  for (const Request* r : {&p.a, &p.b}) {
    if (r->root < 0 || r->root >= size) {
      return "broadcast received invalid root rank " + std::to_string(r->root) + ".";
    }
  }
  if (p.a.root == p.b.root) return "";
  return "Mismatched BROADCAST root ranks: One rank named root rank " +
         std::to_string(p.options.ranks[p.a.root]) + ", but another rank named root rank " +
         std::to_string(p.options.ranks[p.b.root]) + ".";
}

std::string CheckDevice(const Pair& p) {
  if ((p.a.device < 0) == (p.b.device < 0)) return "";
  const auto place = [](const Request& r) { return r.device < 0 ? "CPU" : "GPU"; };
  return std::string("Mismatched ") + NameOf(p.a.kind) +
         " CPU/GPU device selection: One rank has its tensor on " + place(p.a) +
         ", but another rank on " + place(p.b) + ".";
}

// Names of groups are each rank's own business, their sizes are not.
std::string CheckGroup(const Pair& p) {
  if (p.a.group_size == p.b.group_size) return "";
  return "Mismatched groups: One rank has the tensor in a group of " +
         std::to_string(p.a.group_size) + ", but another rank in a group of " +
         std::to_string(p.b.group_size) + ".";
}

std::string CheckJoin(const Request& first, bool somebody_joined) {
  if (!somebody_joined || first.kind == Kind::kAllreduce || first.kind == Kind::kAdasum) return "";
  std::string op = NameOf(first.kind);
  std::transform(op.begin() + 1, op.end(), op.begin() + 1,
                 [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  return op + " is not supported with Join at this time.";
}

std::string CheckScalar(const Request& first) {
  const bool needs_rows = Gathers(first.kind) || first.kind == Kind::kReducescatter;
  if (!needs_rows || !first.shape.empty()) return "";
  return std::string("Process-set rank zero tried to ") + NameOf(first.kind) +
         " a rank-zero tensor.";
}

std::string CheckPrescaleSize(const Request& first, std::uint64_t threshold) {
  if (first.kind != Kind::kReducescatter || first.prescale == 1.0) return "";
  const std::uint64_t bytes = ElementsOf(first.shape) * SizeOf(first.type);
  if (bytes <= threshold) return "";
  return "REDUCESCATTER with a prescale factor on a tensor of " + std::to_string(bytes) +
         " bytes: increase HOROVOD_FUSION_THRESHOLD, which is " + std::to_string(threshold) + ".";
}

// Who differs from whom: the first rank that has a request, and all that do not fit it.
std::string Culprits(const Request& first, std::int32_t first_rank,
                     const std::vector<std::int32_t>& others) {
  constexpr std::size_t kNamed = 8;
  std::string text = " Tensor '" + first.name + "': rank " + std::to_string(first_rank) +
                     " against rank" + (others.size() == 1 ? " " : "s ");
  for (std::size_t i = 0; i < std::min(others.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(others[i]);
  }
  if (others.size() > kNamed) text += " and " + std::to_string(others.size() - kNamed) + " more";
  return text + ".";
}

std::string CheckAll(Check check, const Request& first, const Requests& requests,
                     const ValidateOptions& options) {
  std::string wrong = check({first, first, options});
  if (!wrong.empty()) return wrong;
  std::int32_t first_rank = -1;
  std::vector<std::int32_t> others;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == nullptr) continue;
    if (first_rank < 0) first_rank = options.ranks[i];
    std::string found = check({first, *requests[i], options});
    if (found.empty()) continue;
    if (wrong.empty()) wrong = std::move(found);
    others.push_back(options.ranks[i]);
  }
  if (!others.empty()) wrong += Culprits(first, first_rank, others);
  return wrong;
}

std::string FindMistake(const Request& first, const Requests& requests,
                        const ValidateOptions& options) {
  std::string wrong;
  const auto found = [&](std::string text) {
    wrong = std::move(text);
    return !wrong.empty();
  };
  const auto all = [&](Check check) { return found(CheckAll(check, first, requests, options)); };
  const bool joined = std::count(requests.begin(), requests.end(), nullptr) > 0;
  // The order is Horovod's; what Horovod does not check comes where it does least harm to it.
  (void)(all(CheckSane) || all(CheckType) || all(CheckKind) || all(CheckShape) ||
         all(CheckFactors) || all(CheckOp) || found(CheckJoin(first, joined)) ||
         found(CheckScalar(first)) || all(CheckDimensions) || all(CheckOtherDimensions) ||
         found(CheckPrescaleSize(first, options.fusion_threshold)) || all(CheckRoot) ||
         all(CheckDevice) || all(CheckGroup));
  return wrong;
}

Entry EntryOf(const Request& first, const Requests& requests) {
  Entry entry{first.name, ElementsOf(first.shape), first.shape, {}};
  if (!Gathers(first.kind)) return entry;
  for (const auto& request : requests) entry.first_dims.push_back(request->shape[0]);
  return entry;
}

}  // namespace

Bucket Validate(const Requests& requests, const ValidateOptions& options) {
  const auto it = std::find_if(requests.begin(), requests.end(),
                               [](const auto& request) { return request != nullptr; });
  HVDX_CHECK(it != requests.end());
  const Request& first = **it;
  std::string wrong = FindMistake(first, requests, options);
  Bucket bucket;
  if (!wrong.empty()) {
    bucket.kind = Kind::kError;
    bucket.error = Status::Precondition(std::move(wrong));
    bucket.entries.push_back({first.name, 0, {}, {}});
    return bucket;
  }
  bucket.kind = first.kind;
  bucket.type = first.type;
  bucket.op = first.op;
  bucket.root = first.kind == Kind::kBroadcast ? first.root : -1;
  bucket.device = first.device;
  bucket.prescale = first.prescale;
  bucket.postscale = first.postscale;
  bucket.entries.push_back(EntryOf(first, requests));
  return bucket;
}

}  // namespace horovodx::negotiation
