#include "tests/horovodx/runtime/random_program.h"

#include <algorithm>
#include <numeric>

namespace horovodx::runtime {

RandomProgram::RandomProgram(std::uint64_t seed) : random_(seed) {
  ranks = Pick(2, 8);
  for (int s = Pick(0, 2); s > 0; --s) {
    std::vector<int> members;
    for (int rank = 0; rank < ranks; ++rank) {
      if (Pick(0, 1) == 1) members.push_back(rank);
    }
    const bool is_new = std::find(sets.begin(), sets.end(), members) == sets.end();
    if (!members.empty() && static_cast<int>(members.size()) < ranks && is_new) {
      sets.push_back(members);
    }
  }
  for (int blocks = Pick(1, 4); blocks > 0; --blocks) AddSteps();
  if (Pick(0, 2) == 0) {
    for (int rank = 0; rank < ranks; ++rank) uneven_steps.push_back(Pick(0, 4));
  }
}

bool RandomProgram::InSet(int rank, int set) const {
  if (set == 0) return true;
  const auto& members = sets[set - 1];
  return std::find(members.begin(), members.end(), rank) != members.end();
}

ProgramTensor RandomProgram::RandomTensor(int number) {
  ProgramTensor tensor;
  tensor.name = "t" + std::to_string(number);
  tensor.set = Pick(0, static_cast<int>(sets.size()));
  tensor.elements = Pick(0, 9) == 0 ? Pick(0, 3) : Pick(1, 3000);
  tensor.type = Pick(0, 3) == 0 ? ElementType::kFloat64 : ElementType::kFloat32;
  constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMax, ReduceOp::kMin};
  tensor.op = kOps[Pick(0, 3)];
  return tensor;
}

// A step, repeated; then perhaps changed a little and repeated again.
void RandomProgram::AddSteps() {
  std::vector<ProgramTensor> step;
  for (int i = Pick(1, 6); i > 0; --i) step.push_back(RandomTensor(next_name_++));
  for (int changes = Pick(0, 3); changes >= 0; --changes) {
    const std::size_t cut = Pick(0, 1) == 0 ? step.size() : Pick(0, static_cast<int>(step.size()));
    for (int repeats = Pick(1, 10); repeats > 0; --repeats) {
      const bool shuffle = Pick(0, 5) == 0;
      AddPhase({step.begin(), step.begin() + static_cast<std::ptrdiff_t>(cut)}, shuffle,
               cut == step.size());
      if (cut < step.size()) {
        AddPhase({step.begin() + static_cast<std::ptrdiff_t>(cut), step.end()}, shuffle, true);
      }
    }
    switch (Pick(0, 3)) {
      case 0:
        step.push_back(RandomTensor(next_name_++));
        break;
      case 1:
        if (step.size() > 1) step.erase(step.begin() + Pick(0, static_cast<int>(step.size()) - 1));
        break;
      case 2:
        step[Pick(0, static_cast<int>(step.size()) - 1)].elements = Pick(0, 3000);
        break;
      case 3:
        step[Pick(0, static_cast<int>(step.size()) - 1)].op = ReduceOp::kSum;
        break;
    }
  }
}

void RandomProgram::AddPhase(const std::vector<ProgramTensor>& tensors, bool shuffle,
                             bool end_of_step) {
  if (tensors.empty()) return;
  Phase phase;
  phase.tensors = tensors;
  std::vector<int> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    if (shuffle) std::shuffle(order.begin(), order.end(), random_);
    phase.order.push_back(order);
    // At the end of a step everything is waited for: the names are used again.
    const int how = end_of_step ? -3 : Pick(-1, static_cast<int>(tensors.size()) - 1);
    phase.block_on.push_back(end_of_step && Pick(0, 7) == 0 ? -2 : how);
  }
  phases.push_back(std::move(phase));
}

}  // namespace horovodx::runtime
