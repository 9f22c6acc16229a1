// Ring allreduces that run beside blocking calls over other links, without blocking: one ring after
// another, each in two halves whose messages alternate.
//
//   sent       A0 B0 A1 B1 A2 B2 ...       A1 waits for the arrival of A0, while B0 is on its way
//
// So the line to the right does not run dry while a message from the left is added up. As many
// bytes as AllreduceRing, in twice as many messages where halves are worth it.
//
// Thread: the teams'. Buffers are borrowed until their ring is finished; in place, and what has not
// finished is partial sums. Scratch: four messages.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "horovodx/base/status.h"
#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/exchange.h"
#include "horovodx/collectives/flight.h"
#include "horovodx/collectives/patterns/chunks.h"
#include "horovodx/collectives/patterns/ring.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

// From so many bytes on a ring travels in two halves.
inline constexpr std::size_t kHalvesFromBytes = 128 << 10;
constexpr int HalvesOf(std::size_t bytes) { return bytes >= kHalvesFromBytes ? 2 : 1; }

class RingStrand : public Companion {
 public:
  explicit RingStrand(ReduceOp op) : op_(op) {}
  ~RingStrand() override;

  // After all that were added before.
  void Add(Team team, const MutableBuffer& buffer);
  std::size_t added() const { return added_; }
  // All before this one are.
  std::size_t finished() const { return rings_.empty() ? added_ : rings_.front().number; }

  Result<std::size_t> Pump() override;
  transport::InLink* awaited_in() override { return in_ ? in_->awaited_in() : nullptr; }
  transport::OutLink* awaited_out() override { return out_ ? out_->awaited_out() : nullptr; }

 private:
  // Where a ring's sequence of messages stands: window by window, in each step by step, in each
  // half by half. The same for what is sent and for what is received.
  struct Place {
    std::size_t window = 0;
    int step = 0;  // of both passes
    int half = 0;
  };
  struct Ring {
    Ring(std::size_t the_number, Team the_team, const MutableBuffer& the_buffer);
    bool Ended(const Place& at) const { return at.window == windows.windows(); }
    void Advance(Place& at) const;
    MutableBuffer HalfAt(const Place& at) const;
    ChunkPlan ChunksAt(const Place& at) const;

    std::size_t number;  // of those added
    Team team;
    MutableBuffer buffer;
    WindowPlan windows;
    RingPattern pattern;
    int halves;
    Place sending, receiving;
    // Messages sent and received, whole ones.
    std::size_t sent = 0, received = 0;
    std::optional<MutableBuffer> sums[2]
                                     [2];  // of the reducing pass: by half, of even and odd steps
  };

  Result<std::size_t> PumpOut();
  Result<std::size_t> PumpIn();
  // The first ring that has something left to send, or to receive; null: none.
  Ring* Sender();
  Ring* Receiver();
  bool MaySend(const Ring& ring) const;
  bool MayReceive(const Ring& ring) const;
  void StartSending(Ring& ring);
  void StartReceiving(Ring& ring);
  void OnReceived(Ring& ring);
  void ForgetFinished();

  ReduceOp op_;
  std::deque<Ring> rings_;
  std::size_t added_ = 0;
  Scratch scratch_[2][2];                  // by half, in turn
  std::optional<MutableBuffer> arriving_;  // where in_ puts what it reduces
  std::unique_ptr<Flight> out_;
  std::unique_ptr<Flight> in_;
};

// Of one ring over `bytes`.
constexpr Cost CostOfRingStrand(int ranks, std::size_t bytes) {
  Cost cost = CostOfRing(ranks, bytes);
  cost.messages *= static_cast<std::uint64_t>(HalvesOf(bytes));
  return cost;
}

}  // namespace horovodx::collectives
