// Allreduce of one tensor and of a group.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integrations/torch/errors.h"
#include "integrations/torch/in_flight.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stack.h"

namespace hvdx_torch {
namespace {

struct How {
  std::string name;
  Reduction reduction;
  std::int32_t process_set;
};

How TakeHow(Arguments& arguments) {
  How how;
  how.name = arguments.TakeString();
  how.reduction.op = arguments.TakeInt32();
  how.reduction.prescale = arguments.TakeDouble();
  how.reduction.postscale = arguments.TakeDouble();
  how.process_set = arguments.TakeInt32();
  return how;
}

OperationPtr NewAllreduce(const std::string& name, const How& how, Tensor input) {
  auto operation =
      std::make_shared<Operation>(HVDX_ALLREDUCE, name, how.process_set, std::move(input));
  operation->Reduce(how.reduction);
  return operation;
}

OperationPtr ToNewTensor(const std::string& name, const How& how, Tensor input) {
  Tensor output = input.EmptyLike();
  auto operation = NewAllreduce(name, how, std::move(input));
  operation->WriteTo(std::move(output));
  return operation;
}

std::string NameOf(const How& how) { return "allreduce." + how.name; }

// As Horovod names the members of a group.
std::string NameOf(const How& how, std::size_t i, std::size_t n) {
  return "grouped_allreduce." + how.name + "_" + std::to_string(i + 1) + "of" + std::to_string(n);
}

void CheckGroup(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) Throw("grouped_allreduce: the list of tensors is empty");
}

// A started operation reads its input after the call: a compiler takes memory back as soon as the
// call has returned, whoever holds the tensor. So it works on a copy, which becomes the result.
OperationPtr OnCopy(const std::string& name, const How& how, const Tensor& input) {
  Operation::CheckReadable(input, name);
  auto operation = NewAllreduce(name, how, input.Clone());
  operation->WriteToInput();
  return operation;
}

}  // namespace

void AllreduceStart(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  const Tensor input = arguments.TakeTensor();
  const How how = TakeHow(arguments);
  const auto tickets = InFlight::Get().Start({OnCopy(NameOf(how), how, input)});
  Results(stack).Put(ScalarTensor(tickets[0]));
}

void GroupedAllreduceStart(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  const std::vector<Tensor> inputs = arguments.TakeTensors();
  const How how = TakeHow(arguments);
  CheckGroup(inputs);
  std::vector<OperationPtr> group;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    group.push_back(OnCopy(NameOf(how, i, inputs.size()), how, inputs[i]));
  }
  std::vector<Tensor> tickets;
  for (const std::int64_t ticket : InFlight::Get().Start(group)) {
    tickets.push_back(ScalarTensor(ticket));
  }
  Results(stack).Put(std::move(tickets));
}

void AllreduceWait(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  const Tensor ticket = arguments.TakeTensor();
  arguments.SkipIntList();  // the size, and
  arguments.SkipNumber();   // the type: for the shape function
  Results(stack).Put(InFlight::Get().Take(*static_cast<const std::int64_t*>(ticket.data())));
}

void Allreduce(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  Tensor input = arguments.TakeTensor();
  const How how = TakeHow(arguments);
  const OperationPtr operation = ToNewTensor(NameOf(how), how, std::move(input));
  Run(operation);
  Results(stack).Put(std::move(operation->result()));
}

void AllreduceInPlace(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  Tensor tensor = arguments.TakeTensor();
  const How how = TakeHow(arguments);
  const OperationPtr operation = NewAllreduce(NameOf(how), how, std::move(tensor));
  operation->WriteToInput();
  Run(operation);
}

void GroupedAllreduce(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  std::vector<Tensor> inputs = arguments.TakeTensors();
  const How how = TakeHow(arguments);
  CheckGroup(inputs);
  std::vector<OperationPtr> group;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    group.push_back(ToNewTensor(NameOf(how, i, inputs.size()), how, std::move(inputs[i])));
  }
  Results(stack).Put(RunGroup(group));
}

void CountInFlight(StableIValue* stack, std::uint64_t, std::uint64_t) {
  const auto [now, most] = InFlight::Get().Counts();
  Results results(stack);
  results.Put(now);
  results.Put(most);
}

}  // namespace hvdx_torch
