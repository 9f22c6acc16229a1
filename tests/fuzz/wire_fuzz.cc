// Any bytes: they decode or they do not. What decodes encodes to the same bytes again, and a
// Coordinator and a Member that are told it survive, whatever nonsense it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "horovodx/base/log.h"
#include "horovodx/negotiation/coordinator.h"
#include "horovodx/negotiation/member.h"
#include "horovodx/negotiation/relay.h"
#include "horovodx/negotiation/wire.h"
#include "tests/horovodx/negotiation/message_maker.h"

namespace horovodx::negotiation {
namespace {

void Require(bool fact) {
  if (!fact) std::abort();
}

TimePoint At(int tick) { return TimePoint() + std::chrono::hours(1) + tick * Seconds(20); }

void TellCoordinator(const std::vector<UpRecord>& records) {
  CoordinatorOptions options;
  options.size = 2;
  options.sets = {{0, 1}, {1}};
  options.cache_capacity = 3;
  options.repeats_before_plan = 1;
  options.dynamic_sets = true;
  options.stall_shutdown = Seconds(1000);
  Coordinator coordinator(options);
  int tick = 0;
  for (const UpRecord& record : records) {
    for (std::int32_t rank : record.from) coordinator.OnMessage(rank, record.message, At(tick));
    // The members of such a job would say the same; so more of it becomes ready.
    coordinator.OnMessage(0, record.message, At(tick));
    coordinator.OnMessage(1, record.message, At(tick));
    coordinator.OnTime(At(++tick));
    const std::vector<Outgoing> out = coordinator.TakeMessages();
    const auto again = DecodeDown(Encode(out));
    Require(again.ok());
  }
}

void TellMember(const std::vector<DownRecord>& records) {
  Member member(MemberOptions{});
  int tick = 0;
  for (const char* name : {"a", "b", "c"}) {
    Request request;
    request.name = name;
    request.shape = {4};
    member.Submit(request, At(tick));
  }
  for (const DownRecord& record : records) {
    (void)member.TakeMessages();
    (void)member.OnMessage(record.message, At(tick));
    const auto work = member.Next();
    if (member.drop_wanted()) {
      member.Dropped(At(tick));
    } else if (work && tick % 2 == 0) {
      std::vector<std::string> names;
      for (const Entry& entry : work->bucket->entries) names.push_back(entry.name);
      const std::size_t before = member.outstanding();
      member.Finished(At(tick));
      // Submit again what has finished, as a training loop does.
      if (member.outstanding() < before && names.size() == before - member.outstanding()) {
        for (const std::string& name : names) {
          Request request;
          request.name = name;
          request.shape = {4};
          member.Submit(request, At(tick));
        }
      }
    }
    member.Waited("b");
    member.OnTime(At(++tick));
  }
}

bool Same(const std::vector<std::byte>& encoded, ConstBytes bytes) {
  return std::equal(encoded.begin(), encoded.end(), bytes.begin(), bytes.end());
}

}  // namespace
}  // namespace horovodx::negotiation

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  horovodx::SetLogSink([](horovodx::LogLevel, const std::string&) {});
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Bytes alone seldom become a message: now and then a whole one is made, to be twisted afterwards.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  using namespace horovodx::negotiation;  // NOLINT: one function
  if (seed % 8 != 0) return LLVMFuzzerMutate(data, size, max_size);
  MessageMaker maker(seed);
  const auto bytes = seed % 16 == 0 ? Encode(maker.Ups()) : Encode(maker.Downs());
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace horovodx;               // NOLINT: one function
  using namespace horovodx::negotiation;  // NOLINT
  const ConstBytes bytes = BytesOf(data, size);
  if (const auto up = DecodeUp(bytes); up.ok()) {
    Require(Same(Encode(up.value()), bytes));
    TellCoordinator(up.value());
    TellCoordinator(Combine(up.value()));
  }
  if (const auto down = DecodeDown(bytes); down.ok()) {
    Require(Same(Encode(down.value()), bytes));
    TellMember(down.value());
    (void)Split(down.value(), {0, 0, 2, 2});
  }
  return 0;
}
