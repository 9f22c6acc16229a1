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

#include "kernels/types.h"

namespace horovodx::runtime {

struct ProgramTensor {
  std::string name;
  int set = 0;
  int elements = 1;
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
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

  int ranks = 2;
  std::vector<std::vector<int>> sets;  // besides the world
  std::vector<Phase> phases;
  // Afterwards each rank runs so many more steps of one tensor on the world, then joins.
  std::vector<int> uneven_steps;  // empty: nobody joins

  bool InSet(int rank, int set) const;

 private:
  ProgramTensor RandomTensor(int number);
  void AddSteps();
  void AddPhase(const std::vector<ProgramTensor>& tensors, bool shuffle, bool end_of_step);
  int Pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  std::mt19937_64 random_;
  int next_name_ = 0;
};

}  // namespace horovodx::runtime
