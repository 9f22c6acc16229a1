#include "tools/bench/engine.h"

#include <cstdio>
#include <cstdlib>

#include "horovodx/api/c_api.h"

namespace horovodx::bench {
namespace {

hvdx_submission Describe(int op, const std::string& name, int type, const std::int64_t* elements) {
  hvdx_submission submission{};
  submission.struct_size = sizeof(submission);
  submission.kind = HVDX_ALLREDUCE;
  submission.type = type;
  submission.op = op;
  submission.device = -1;
  submission.ndim = 1;
  submission.shape = elements;
  submission.name = name.c_str();
  return submission;
}

void Run(int op, const std::string& name, int type, std::size_t elements, const void* input,
         void* output) {
  const auto shape = static_cast<std::int64_t>(elements);
  hvdx_submission submission = Describe(op, name, type, &shape);
  submission.input = input;
  submission.output = output;
  if (hvdx_run(&submission) != HVDX_OK) Fail(name + ": " + hvdx_last_error());
}

}  // namespace

void Fail(const std::string& what) {
  const char* rank = std::getenv("HOROVOD_RANK");
  std::fprintf(stderr, "hvdx-bench: rank %s: %s\n", rank == nullptr ? "?" : rank, what.c_str());
  std::exit(3);
}

Engine::Engine() {
  if (!horovod_init(nullptr, 0, nullptr, nullptr, 0)) {
    Fail(std::string("cannot start: ") + hvdx_last_error());
  }
  rank_ = horovod_rank();
  size_ = horovod_size();
}

Engine::~Engine() { horovod_shutdown(); }

void Engine::Allreduce(const std::string& name, int type, std::size_t elements, const void* input,
                       void* output) {
  Run(HVDX_SUM, name, type, elements, input, output);
}

void Engine::Meet() {
  float one = 1;
  Run(HVDX_SUM, "bench.meet", HVDX_FLOAT32, 1, &one, &one);
}

std::vector<double> Engine::Max(std::vector<double> values) {
  if (values.empty()) return values;
  const std::string name = "bench.max." + std::to_string(gathers_++);
  Run(HVDX_MAX, name, HVDX_FLOAT64, values.size(), values.data(), values.data());
  return values;
}

Engine::Slot Engine::Register(const std::string& name, int type, std::size_t elements) {
  const auto shape = static_cast<std::int64_t>(elements);
  const hvdx_submission submission = Describe(HVDX_SUM, name, type, &shape);
  const Slot slot = hvdx_register(&submission);
  if (slot < 0) Fail("cannot register " + name + ": " + hvdx_last_error());
  return slot;
}

Engine::Handle Engine::Submit(Slot slot, const void* input, void* output) {
  const Handle handle = hvdx_submit_slot(slot, input, output);
  if (handle <= 0) Fail(std::string("cannot submit: ") + hvdx_last_error());
  return handle;
}

void Engine::Wait(Handle handle) {
  if (hvdx_wait(handle, -1) != HVDX_OK) Fail(hvdx_last_error());
  hvdx_release(handle);
}

std::int64_t Engine::control_messages() const {
  return hvdx_counter("control_messages_sent") + hvdx_counter("control_messages_received");
}

}  // namespace horovodx::bench
