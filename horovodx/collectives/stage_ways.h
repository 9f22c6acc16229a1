// StageWays: which way an allreduce takes through the stage, found by trying.
//
// What is best depends on the processor, on how many ranks there are and on where they run. Where
// a store to a line that another core has read takes 8 ns, slots are written six times faster past
// the cache; elsewhere the cache is nearer. So the first operations of each class of sizes take
// the possible ways in turn, and the fastest way stays. No way changes a bit of a result.
//
// All members must take the same way. They count the same operations, so they try the same ways at
// the same time; each writes down on its board what a way took it at least. An operation ends for
// nobody before all have begun it, so once the operation *after* a class's last trial has ended,
// everybody's board is complete, and all read the same choice from it. A way counts by the least
// of all its times on any member: who comes last waits for nobody, so that is what the work itself
// takes, however unevenly ranks arrive.
//
// Operations that were given up count on no member. Thread: the pipe's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

namespace horovodx::collectives {

struct StageWay {
  bool by_slices = false;   // else each reads all slots
  bool past_cache = false;  // slots are written past the cache
  bool operator==(const StageWay&) const = default;
};

class StageWays {
 public:
  // Powers of four from 1 KiB to 64 MiB. Smaller operations are not worth a choice.
  static constexpr int kClasses = 9;
  static constexpr int kMostWays = 4;
  static constexpr int kTries = 6;  // of each way

  struct Board {  // in shared memory; a member writes its own
    std::array<std::array<std::atomic<float>, kMostWays>, kClasses> seconds;
  };

  // Empties my board. `boards` has one for each member, in rank order; they outlive this.
  StageWays(int rank, std::vector<Board*> boards);

  // The way of the next operation.
  StageWay Next(std::size_t bytes) const;
  // It has ended; it had so many bytes and took so long on this member.
  void Finished(std::size_t bytes, double seconds);
  // Whether it matters how long an operation takes.
  bool IsTrial(std::size_t bytes) const;

  // The ways worth trying, the usual one first.
  static std::span<const StageWay> Possible(int ranks, std::size_t bytes);

 private:
  struct Class {
    int finished = 0;  // trials
    int chosen = -1;
  };

  int ranks() const { return static_cast<int>(boards_.size()); }
  void ChooseWhereAllHaveTried();
  int Fastest(int size_class, int ways) const;

  const std::size_t rank_;
  const std::vector<Board*> boards_;
  std::array<Class, kClasses> classes_;
};

}  // namespace horovodx::collectives
