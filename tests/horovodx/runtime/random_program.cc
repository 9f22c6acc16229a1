#include "tests/horovodx/runtime/random_program.h"

#include <algorithm>
#include <numeric>

namespace horovodx::runtime {
namespace {

using negotiation::Kind;

bool IsFloat(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
         type == ElementType::kFloat32 || type == ElementType::kFloat64;
}

// The groups are as large as they are after tensors have come and gone.
void CountGroups(std::vector<ProgramTensor>& step) {
  for (ProgramTensor& tensor : step) {
    if (tensor.group.empty()) continue;
    tensor.group_size = static_cast<std::uint32_t>(
        std::count_if(step.begin(), step.end(),
                      [&](const ProgramTensor& other) { return other.group == tensor.group; }));
  }
}

}  // namespace

int ProgramTensor::RowsOf(int rank) const {
  return kind == Kind::kAllgather ? (rows + 7 * rank) % (rows + 3) : rows;
}

std::vector<std::int32_t> ProgramTensor::SplitsOf(int rank, int members) const {
  std::vector<std::int32_t> splits;
  for (int to = 0; to < members; ++to) splits.push_back((rows + 5 * rank + 3 * to) % 9);
  return splits;
}

std::vector<std::int64_t> ProgramTensor::ShapeOf(int rank, int members) const {
  std::int64_t first = RowsOf(rank);
  if (kind == Kind::kAlltoall) {
    const auto splits = SplitsOf(rank, members);
    first = std::accumulate(splits.begin(), splits.end(), std::int64_t{0});
  }
  if (columns == 0) return {first};
  return {first, columns};
}

RandomProgram::RandomProgram(std::uint64_t seed) : random_(seed) {
  ChooseHosts();
  ChooseSets();
  ChooseOptions();
  for (int blocks = Pick(1, 4); blocks > 0; --blocks) AddSteps();
  if (OneIn(3)) {
    for (int rank = 0; rank < ranks(); ++rank) uneven_steps.push_back(Pick(0, 4));
  }
}

void RandomProgram::ChooseHosts() {
  switch (Pick(0, 3)) {
    case 0:  // anybody anywhere
    {
      std::vector<std::string> host_of;
      for (int rank = Pick(2, 6); rank > 0; --rank) {
        host_of.push_back("host " + std::to_string(Pick(0, 2)));
      }
      hosts = topology::HostMap(host_of);
      return;
    }
    case 1:
      hosts = topology::HostMap::Grid(Pick(2, 3), Pick(1, 2));
      return;
    default:
      hosts = topology::HostMap::OneHost(Pick(2, 8));
  }
}

void RandomProgram::ChooseSets() {
  auto& sets = options.process_sets;
  for (int s = Pick(0, 2); s > 0; --s) {
    std::vector<int> members;
    for (int rank = 0; rank < ranks(); ++rank) {
      if (OneIn(2)) members.push_back(rank);
    }
    const bool is_new = std::find(sets.begin(), sets.end(), members) == sets.end();
    if (!members.empty() && static_cast<int>(members.size()) < ranks() && is_new) {
      sets.push_back(members);
    }
  }
}

void RandomProgram::ChooseOptions() {
  options.spin_microseconds = 0;
  options.patience = Seconds(0.2);
  if (OneIn(4)) options.fusion_threshold = OneIn(2) ? 0 : 8 << 10;
  if (OneIn(4)) options.cache_capacity = OneIn(2) ? 0 : 3;
  if (OneIn(8)) options.cycle_time = std::chrono::microseconds(200);
  options.disable_group_fusion = OneIn(4);
  small_buffers = OneIn(2);
  switch (Pick(0, 2)) {
    case 0:
      options.execute.deterministic = true;
      break;
    case 1: {
      const auto all = collectives::AllAllreduceAlgorithms();
      const auto algorithm = all[Pick(0, static_cast<int>(all.size()) - 1)];
      if (algorithm == collectives::AllreduceAlgorithm::kMpi) break;
      options.execute.allreduce.push_back({algorithm});
      break;
    }
    default:  // as measured
      break;
  }
}

bool RandomProgram::InSet(int rank, int set) const {
  if (set == 0) return true;
  const auto& members = options.process_sets[set - 1];
  return std::find(members.begin(), members.end(), rank) != members.end();
}

int RandomProgram::MembersOf(int set) const {
  return set == 0 ? ranks() : static_cast<int>(options.process_sets[set - 1].size());
}

ProgramTensor RandomProgram::RandomTensor() {
  ProgramTensor tensor;
  tensor.name = "t" + std::to_string(next_name_++);
  tensor.set = Pick(0, static_cast<int>(options.process_sets.size()));
  constexpr Kind kOthers[] = {Kind::kAllgather, Kind::kBroadcast, Kind::kAlltoall,
                              Kind::kReducescatter};
  if (OneIn(4)) tensor.kind = kOthers[Pick(0, 3)];
  tensor.columns = Pick(0, 3);
  do {
    tensor.root = Pick(0, ranks() - 1);
  } while (!InSet(tensor.root, tensor.set));
  Vary(tensor);
  return tensor;
}

// What may differ between tensors of one group, and from step to step.
void RandomProgram::Vary(ProgramTensor& tensor) {
  tensor.rows = OneIn(10) ? Pick(0, 3) : Pick(1, 2000);
  tensor.type = static_cast<ElementType>(OneIn(2) ? static_cast<int>(ElementType::kFloat32)
                                                  : Pick(0, kElementTypes - 1));
  constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMax, ReduceOp::kMin,
                               ReduceOp::kProduct};
  tensor.op = kOps[Pick(0, tensor.kind == Kind::kReducescatter ? 1 : 4)];
  const bool reduces = tensor.kind == Kind::kAllreduce || tensor.kind == Kind::kReducescatter;
  // A reducescatter above the threshold refuses to be scaled; rows may still grow.
  const bool scales = reduces && IsFloat(tensor.type) && options.fusion_threshold > (1 << 20);
  tensor.prescale = scales && OneIn(8) ? 0.5 : 1.0;
  // One host adds up on the stage, unless an algorithm was asked for.
  const bool on_stage = hosts.hosts() == 1 && options.execute.allreduce.empty();
  const bool in_rank_order = on_stage || options.execute.deterministic;
  tensor.exact = tensor.kind != Kind::kAllreduce || !in_rank_order;
}

// One tensor, or a group of them.
void RandomProgram::AddTensors(std::vector<ProgramTensor>& step) {
  ProgramTensor tensor = RandomTensor();
  const bool single = tensor.kind == Kind::kBroadcast || tensor.kind == Kind::kAlltoall;
  if (!single && OneIn(5)) {
    tensor.group = "group of " + tensor.name;
    for (int more = Pick(0, 2); more > 0; --more) {
      step.push_back(tensor);
      tensor.name = "t" + std::to_string(next_name_++);
      if (OneIn(2)) Vary(tensor);
    }
  }
  step.push_back(tensor);
}

void RandomProgram::Change(std::vector<ProgramTensor>& step) {
  ProgramTensor& one = step[Pick(0, static_cast<int>(step.size()) - 1)];
  switch (Pick(0, 3)) {
    case 0:
      AddTensors(step);
      break;
    case 1:
      if (step.size() > 1) step.erase(step.begin() + (&one - step.data()));
      break;
    case 2:
      one.rows = Pick(0, 2000);
      break;
    case 3:
      Vary(one);
      break;
  }
  CountGroups(step);
}

// A step, repeated; then perhaps changed a little and repeated again.
void RandomProgram::AddSteps() {
  std::vector<ProgramTensor> step;
  for (int i = Pick(1, 6); i > 0; --i) AddTensors(step);
  CountGroups(step);
  for (int changes = Pick(0, 3); changes >= 0; --changes) {
    std::size_t cut = OneIn(2) ? step.size() : Pick(0, static_cast<int>(step.size()));
    // Who waits for a tensor waits for its group.
    while (cut > 0 && cut < step.size() && !step[cut].group.empty() &&
           step[cut].group == step[cut - 1].group) {
      ++cut;
    }
    for (int repeats = Pick(1, 10); repeats > 0; --repeats) {
      const bool shuffle = OneIn(6);
      AddPhase({step.begin(), step.begin() + static_cast<std::ptrdiff_t>(cut)}, shuffle,
               cut == step.size());
      if (cut < step.size()) {
        AddPhase({step.begin() + static_cast<std::ptrdiff_t>(cut), step.end()}, shuffle, true);
      }
    }
    Change(step);
  }
}

void RandomProgram::AddPhase(const std::vector<ProgramTensor>& tensors, bool shuffle,
                             bool end_of_step) {
  if (tensors.empty()) return;
  Phase phase;
  phase.tensors = tensors;
  std::vector<int> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  for (int rank = 0; rank < ranks(); ++rank) {
    if (shuffle) std::shuffle(order.begin(), order.end(), random_);
    phase.order.push_back(order);
    // At the end of a step everything is waited for: the names are used again.
    const int how = end_of_step ? -3 : Pick(-1, static_cast<int>(tensors.size()) - 1);
    phase.block_on.push_back(end_of_step && OneIn(8) ? -2 : how);
  }
  phases.push_back(std::move(phase));
}

}  // namespace horovodx::runtime
