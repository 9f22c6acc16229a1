// Operations under way: submitting them, waiting for them, and tickets for those that are waited
// for later.
//
// A name can be under way once in a process. An eager program that uses a name twice waits in
// between; a compiler may move the wait behind the second start. So starting a name that was
// started here before and has not finished waits for that one first: the k-th use of a name on one
// rank meets the k-th on the others, however each rank's waits were moved.
//
// Thread: any; waits hold no lock. Two threads that use one name at once get the engine's error.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "integrations/torch/operation.h"

namespace hvdx_torch {

// Submits and waits. Throws what went wrong, or an interruption.
void Run(const OperationPtr& operation);
// All of them become ready together; returns their results. All are waited for, also if one fails.
std::vector<Tensor> RunGroup(const std::vector<OperationPtr>& operations);
// As Run, and returns how many rows each member sent (alltoall).
std::vector<std::int32_t> RunForSplits(const OperationPtr& operation);

class InFlight {
 public:
  static InFlight& Get();

  // A ticket for each operation; they become ready together if there are several.
  std::vector<std::int64_t> Start(const std::vector<OperationPtr>& operations);
  // Waits for the result of a ticket, which is then used up.
  Tensor Take(std::int64_t ticket);
  // Waits for what was started under this name.
  void FinishName(std::int32_t process_set, const std::string& name);
  // Keeps what the engine still uses when its caller has stopped waiting.
  void Remember(std::int64_t ticket, const OperationPtr& operation);

  // Started and not waited for: now, and the most since the last time this was asked.
  std::pair<std::int64_t, std::int64_t> Counts();

 private:
  using Name = std::pair<std::int32_t, std::string>;

  OperationPtr Find(std::int64_t ticket);
  void Forget(std::int64_t ticket, const Operation& operation);

  // All guarded by mutex_.
  std::mutex mutex_;
  std::unordered_map<std::int64_t, OperationPtr> by_ticket_;
  std::map<Name, std::int64_t> last_ticket_;
  std::int64_t most_ = 0;
};

}  // namespace hvdx_torch
