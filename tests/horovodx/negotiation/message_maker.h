// Messages that never were: every kind, any content, from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

class MessageMaker {
 public:
  explicit MessageMaker(std::uint64_t seed) : random_(seed) {}

  // Often small: numbers that mean something are.
  template <typename T>
  T Number() {
    return static_cast<T>(random_() % 2 == 0 ? random_() % 3 : random_() >> (random_() % 64));
  }
  std::string Text() {
    if (random_() % 2 == 0) return std::string(1, static_cast<char>('a' + random_() % 3));
    return std::string(random_() % 9, static_cast<char>(random_()));
  }
  template <typename T>
  std::vector<T> Numbers() {
    std::vector<T> values(random_() % 4);
    for (T& value : values) value = Number<T>();
    return values;
  }
  double Real() { return static_cast<double>(Number<std::int32_t>()) / 7; }

  Request MakeRequest() {
    Request r;
    r.kind = static_cast<Kind>(random_() % 8);
    r.type = static_cast<ElementType>(random_() % kElementTypes);
    r.op = static_cast<ReduceOp>(random_() % kReduceOps);
    r.name = Text();
    r.root = Number<std::int32_t>();
    r.device = Number<std::int32_t>();
    r.shape = Numbers<std::int64_t>();
    r.prescale = Real();
    r.postscale = Real();
    r.group = Text();
    r.group_size = Number<std::uint32_t>();
    return r;
  }
  Bucket MakeBucket() {
    Bucket b;
    b.kind = static_cast<Kind>(random_() % 9);
    b.type = static_cast<ElementType>(random_() % kElementTypes);
    b.op = static_cast<ReduceOp>(random_() % kReduceOps);
    b.root = Number<std::int32_t>();
    b.device = Number<std::int32_t>();
    b.prescale = Real();
    b.postscale = Real();
    for (auto n = random_() % 3; n > 0; --n) {
      b.entries.push_back(
          {Text(), Number<std::uint64_t>(), Numbers<std::int64_t>(), Numbers<std::int64_t>()});
    }
    b.error = Status(static_cast<StatusCode>(random_() % 6), Text());
    b.last_joined = Number<std::int32_t>();
    for (auto n = random_() % 3; n > 0; --n) {
      b.algorithms.push_back(static_cast<std::uint8_t>(random_() % 10));
    }
    b.segment = random_() % 2 == 0 ? 0 : std::uint32_t{64 << 10} << (random_() % 6);
    b.streams = static_cast<std::uint8_t>(random_() % (kMostStreams + 1));
    return b;
  }
  std::vector<Bucket> Buckets() {
    std::vector<Bucket> buckets(random_() % 3);
    for (Bucket& b : buckets) b = MakeBucket();
    return buckets;
  }
  std::int32_t Set() { return Number<std::int32_t>(); }
  std::uint32_t Epoch() { return Number<std::uint32_t>(); }

  UpMessage MakeUp() {
    switch (random_() % 8) {
      case 0: {
        Ready ready{Set(), Epoch(), {}, Numbers<std::uint64_t>(), Epoch()};
        for (auto n = random_() % 3; n > 0; --n) ready.requests.push_back(MakeRequest());
        return ready;
      }
      case 1:
        return Leave{Set(), Epoch(), Number<std::uint64_t>(), Text()};
      case 2:
        return AddSet{Numbers<std::int32_t>()};
      case 3:
        return RemoveSet{Set()};
      case 4:
        return WantShutdown{};
      case 5:
        return Drained{};
      case 6:
        return Lost{Set(), Text()};
      default:
        return Stuck{Set(), Epoch(), Number<std::uint64_t>()};
    }
  }
  DownMessage MakeDown() {
    switch (random_() % 11) {
      case 0:
        return Run{Set(), Buckets(), Numbers<std::uint64_t>(), Numbers<std::uint64_t>()};
      case 1:
        return StartPlan{Set(), Epoch(), Buckets()};
      case 2:
        return EndPlan{Set(), Epoch(), Number<std::uint64_t>()};
      case 3:
        return Resend{Set(), Epoch(), Numbers<std::uint64_t>()};
      case 4:
        return SetAdded{Set(), Epoch(), Numbers<std::int32_t>()};
      case 5:
        return SetRemoved{Set()};
      case 6:
        return SetRefused{Set(), Text()};
      case 7:
        return Shutdown{Text()};
      case 8:
        return Close{};
      case 9:
        return Failed{Set(), Text()};
      default:
        return PleaseLeave{Set(), Epoch()};
    }
  }
  std::vector<UpRecord> Ups() {
    std::vector<UpRecord> records;
    for (auto n = random_() % 4; n > 0; --n) Append(records, Numbers<std::int32_t>(), MakeUp());
    return records;
  }
  std::vector<DownRecord> Downs() {
    std::vector<DownRecord> records;
    for (auto n = random_() % 4; n > 0; --n) Append(records, Numbers<std::int32_t>(), MakeDown());
    return records;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace horovodx::negotiation
