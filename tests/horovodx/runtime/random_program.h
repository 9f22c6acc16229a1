// Random training programs: what each rank submits, in which order, and where it blocks.
//
// A program is the same list of phases for all ranks; in each phase a rank submits the phase's
// tensors in an order of its own and may then block. All ranks submit all of a phase before they
// block on any of it, so a program never deadlocks by itself: if a run of it hangs, the engine is
// to blame.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "horovodx/negotiation/message.h"
#include "horovodx/runtime/engine_options.h"
#include "horovodx/topology/host_map.h"
#include "kernels/types.h"

namespace horovodx::runtime {

struct ProgramTensor {
  std::string name;
  negotiation::Kind kind = negotiation::Kind::kAllreduce;
  int set = 0;
  int rows = 1;
  int columns = 1;  // 0: one dimension
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;  // global
  double prescale = 1.0;
  std::string group;  // neighbours in a step, all in one phase
  std::uint32_t group_size = 0;
  // Sums of these are exact, in whatever order: where ranks add up along links, the order depends
  // on how tensors were merged, and only exact sums can be compared bit for bit.
  bool exact = false;

  // Gathers have other rows on every rank, some none.
  int RowsOf(int rank) const;
  // Of an alltoall; they add up to RowsOf.
  std::vector<std::int32_t> SplitsOf(int rank, int members) const;
  std::vector<std::int64_t> ShapeOf(int rank, int members) const;
};

struct Phase {
  std::vector<ProgramTensor> tensors;
  std::vector<std::vector<int>> order;  // [rank]: indices into tensors
  // [rank]: index of the tensor to block on after submitting, -1 for none, -2 to poll for all, -3
  // to wait for all.
  std::vector<int> block_on;
};

struct RandomProgram {
  explicit RandomProgram(std::uint64_t seed);

  int ranks() const { return hosts.size(); }
  bool InSet(int rank, int set) const;
  int MembersOf(int set) const;

  topology::HostMap hosts;
  EngineOptions options;  // also says the process sets besides the world
  bool small_buffers = false;
  std::vector<Phase> phases;
  // Afterwards each rank runs so many more steps of one tensor on the world, then joins.
  std::vector<int> uneven_steps;  // empty: nobody joins

 private:
  void ChooseHosts();
  void ChooseSets();
  void ChooseOptions();
  ProgramTensor RandomTensor();
  void Vary(ProgramTensor& tensor);
  void AddTensors(std::vector<ProgramTensor>& step);
  void AddSteps();
  void Change(std::vector<ProgramTensor>& step);
  void AddPhase(const std::vector<ProgramTensor>& tensors, bool shuffle, bool end_of_step);
  int Pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  bool OneIn(int n) { return Pick(1, n) == 1; }

  std::mt19937_64 random_;
  int next_name_ = 0;
};

}  // namespace horovodx::runtime
