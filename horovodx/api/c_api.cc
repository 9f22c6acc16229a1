// hvdx_*: submitting, waiting, looking inside.
#include "horovodx/api/c_api.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/api/handle_table.h"
#include "horovodx/api/last_error.h"
#include "horovodx/api/process_engine.h"
#include "horovodx/api/slot_table.h"
#include "horovodx/api/submission_from_c.h"

namespace {

using horovodx::Deadline;
using horovodx::Result;
using horovodx::Seconds;
using horovodx::Status;
using horovodx::api::HandleTable;
using horovodx::api::LastError;
using horovodx::api::ProcessEngine;
using horovodx::api::Remember;
using horovodx::api::SlotTable;
using horovodx::api::SubmissionFromC;
using horovodx::runtime::Engine;
using horovodx::runtime::Operation;
using horovodx::runtime::OperationPtr;
using horovodx::runtime::Submission;

Result<std::shared_ptr<Engine>> RunningEngine() {
  auto engine = ProcessEngine::Get().engine();
  if (engine == nullptr) {
    return Status::Precondition("Horovod has not been initialized; use hvd.init().");
  }
  return engine;
}

Result<OperationPtr> OperationFromC(const hvdx_submission* submission) {
  auto operation = std::make_shared<Operation>();
  HVDX_RETURN_IF_ERROR(SubmissionFromC(submission, operation->what));
  return operation;
}

Result<std::int64_t> Submit(OperationPtr operation) {
  HVDX_ASSIGN_OR_RETURN(auto engine, RunningEngine());
  HVDX_RETURN_IF_ERROR(engine->Submit(operation));
  return HandleTable::Get().Add(std::move(operation));
}

Result<std::int64_t> Submit(const hvdx_submission* submission) {
  HVDX_ASSIGN_OR_RETURN(auto operation, OperationFromC(submission));
  return Submit(std::move(operation));
}

Result<std::int64_t> SubmitSlot(std::int64_t slot, const void* input, void* output) {
  auto operation = std::make_shared<Operation>();
  HVDX_RETURN_IF_ERROR(SlotTable::Get().Copy(slot, operation->what));
  operation->what.input = input;
  operation->what.output = output;
  return Submit(std::move(operation));
}

std::int64_t HandleOrError(const Result<std::int64_t>& handle) {
  return handle.ok() ? handle.value() : -static_cast<std::int64_t>(Remember(handle.status()));
}

// The operation of a handle once it has finished, else null.
OperationPtr Finished(hvdx_handle handle) {
  auto operation = HandleTable::Get().Find(handle);
  if (operation == nullptr || !operation->finished.load(std::memory_order_acquire)) {
    LastError() = "handle " + std::to_string(handle) + " is unknown or has not finished";
    return nullptr;
  }
  return operation;
}

Result<std::vector<Submission>> AllFromC(const hvdx_submission* submissions, std::int32_t n) {
  std::vector<Submission> all;
  for (std::int32_t i = 0; i < n; ++i) {
    HVDX_RETURN_IF_ERROR(SubmissionFromC(submissions + i, all.emplace_back()));
  }
  return all;
}

Status SubmitGroup(const hvdx_submission* submissions, std::int32_t n, hvdx_handle* handles) {
  HVDX_ASSIGN_OR_RETURN(auto engine, RunningEngine());
  HVDX_ASSIGN_OR_RETURN(auto all, AllFromC(submissions, n));
  HVDX_ASSIGN_OR_RETURN(auto operations, engine->SubmitGroup(std::move(all)));
  for (std::int32_t i = 0; i < n; ++i) {
    handles[i] = HandleTable::Get().Add(std::move(operations[i]));
  }
  return Status::Ok();
}

// The operation; finished, unless the deadline passed first.
Result<OperationPtr> Run(const hvdx_submission* submission, const Deadline& deadline) {
  HVDX_ASSIGN_OR_RETURN(auto engine, RunningEngine());
  HVDX_ASSIGN_OR_RETURN(auto operation, OperationFromC(submission));
  HVDX_RETURN_IF_ERROR(engine->Run(operation, deadline));
  return operation;
}

Deadline DeadlineFromC(double seconds) {
  return seconds < 0 ? Deadline::Never() : Deadline::After(Seconds(seconds));
}

// Of an operation that has been waited for.
int32_t StatusOf(const Operation& operation) {
  if (!operation.finished.load(std::memory_order_acquire)) return HVDX_TIMEOUT;
  return operation.status.ok() ? HVDX_OK : Remember(operation.status);
}

}  // namespace

extern "C" {

hvdx_handle hvdx_submit(const hvdx_submission* submission) {
  return HandleOrError(Submit(submission));
}

int32_t hvdx_submit_group(const hvdx_submission* submissions, int32_t n, hvdx_handle* handles) {
  return Remember(SubmitGroup(submissions, n, handles));
}

int32_t hvdx_run(const hvdx_submission* submission) {
  const auto operation = Run(submission, Deadline::Never());
  return operation.ok() ? StatusOf(*operation.value()) : Remember(operation.status());
}

int32_t hvdx_run_for(const hvdx_submission* submission, double seconds, hvdx_handle* handle) {
  auto operation = Run(submission, DeadlineFromC(seconds));
  if (!operation.ok()) return Remember(operation.status());
  const int32_t status = StatusOf(*operation.value());
  if (status == HVDX_TIMEOUT) *handle = HandleTable::Get().Add(std::move(operation).value());
  return status;
}

int64_t hvdx_register(const hvdx_submission* submission) {
  Submission prototype;
  const Status status = SubmissionFromC(submission, prototype);
  return status.ok() ? SlotTable::Get().Add(std::move(prototype)) : -Remember(status);
}

hvdx_handle hvdx_submit_slot(int64_t slot, const void* input, void* output) {
  return HandleOrError(SubmitSlot(slot, input, output));
}

int32_t hvdx_poll(hvdx_handle handle) {
  auto operation = HandleTable::Get().Find(handle);
  if (operation == nullptr) {
    return -Remember(Status::InvalidArgument("there is no handle " + std::to_string(handle)));
  }
  if (operation->finished.load(std::memory_order_acquire)) return 1;
  auto engine = ProcessEngine::Get().engine();
  return engine != nullptr && engine->Poll(operation) ? 1 : 0;
}

int32_t hvdx_wait(hvdx_handle handle, double seconds) {
  auto operation = HandleTable::Get().Find(handle);
  if (operation == nullptr) {
    return Remember(Status::InvalidArgument("there is no handle " + std::to_string(handle)));
  }
  if (auto engine = ProcessEngine::Get().engine(); engine != nullptr) {
    engine->Wait(operation, DeadlineFromC(seconds));
  }
  return StatusOf(*operation);
}

void* hvdx_output(hvdx_handle handle) {
  const auto operation = Finished(handle);
  return operation == nullptr ? nullptr : operation->kept.get();
}

int32_t hvdx_output_ndim(hvdx_handle handle) {
  const auto operation = Finished(handle);
  return operation == nullptr ? -1 : static_cast<int32_t>(operation->output_shape.size());
}

int32_t hvdx_output_shape(hvdx_handle handle, int64_t* shape) {
  const auto operation = Finished(handle);
  if (operation == nullptr) return HVDX_INVALID_ARGUMENT;
  std::copy(operation->output_shape.begin(), operation->output_shape.end(), shape);
  return HVDX_OK;
}

int32_t hvdx_received_splits(hvdx_handle handle, int32_t* splits) {
  const auto operation = Finished(handle);
  if (operation == nullptr) return -HVDX_INVALID_ARGUMENT;
  std::copy(operation->received_splits.begin(), operation->received_splits.end(), splits);
  return static_cast<int32_t>(operation->received_splits.size());
}

int32_t hvdx_last_joined(hvdx_handle handle) {
  const auto operation = Finished(handle);
  return operation == nullptr ? -1 : operation->last_joined;
}

void hvdx_release(hvdx_handle handle) { HandleTable::Get().Release(handle); }

const char* hvdx_last_error(void) { return LastError().c_str(); }

int64_t hvdx_counter(const char* name) {
  auto engine = ProcessEngine::Get().engine();
  return engine == nullptr || name == nullptr ? -1 : engine->Counter(name);
}

int64_t hvdx_describe(const char* what, char* text, int64_t size) {
  auto engine = ProcessEngine::Get().engine();
  if (engine == nullptr || what == nullptr) return -1;
  const std::string all = engine->Describe(what);
  if (all.empty()) return -1;
  if (text != nullptr && size > 0) {
    const auto most = std::min(all.size(), static_cast<std::size_t>(size) - 1);
    text[all.copy(text, most)] = '\0';
  }
  return static_cast<int64_t>(all.size());
}

const char* hvdx_version(void) { return HVDX_VERSION; }

}  // extern "C"
