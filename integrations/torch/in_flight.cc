#include "integrations/torch/in_flight.h"

#include <algorithm>
#include <exception>

#include "integrations/torch/errors.h"
#include "integrations/torch/signals.h"

namespace hvdx_torch {
namespace {

// How long Ctrl-C may go unheard.
constexpr double kSecondsBetweenSignals = 0.1;

// The status of an operation that has ended; throws if it is no use to wait on.
std::int32_t WaitHearingSignals(hvdx_handle handle) {
  while (true) {
    const std::int32_t status = hvdx_wait(handle, kSecondsBetweenSignals);
    if (status != HVDX_TIMEOUT) return status;
    if (horovod_is_initialized() == 0) Throw("Horovod has been shut down.");
    HearSignals();
  }
}

// The same for an operation that nobody else knows: if this throws, its memory stays.
std::int32_t WaitOrRemember(hvdx_handle handle, const OperationPtr& operation) {
  try {
    return WaitHearingSignals(handle);
  } catch (...) {
    InFlight::Get().Remember(handle, operation);
    throw;
  }
}

void ThrowUnlessOk(std::int32_t status) {
  if (status != HVDX_OK) ThrowLast();
}

std::vector<hvdx_handle> SubmitAll(const std::vector<OperationPtr>& operations) {
  std::vector<hvdx_submission> all;
  for (const OperationPtr& operation : operations) all.push_back(operation->what());
  std::vector<hvdx_handle> handles(all.size());
  ThrowUnlessOk(
      hvdx_submit_group(all.data(), static_cast<std::int32_t>(all.size()), handles.data()));
  return handles;
}

hvdx_handle Submit(const Operation& operation) {
  const hvdx_handle handle = hvdx_submit(&operation.what());
  if (handle < 0) ThrowLast();
  return handle;
}

}  // namespace

void Run(const OperationPtr& operation) {
  InFlight::Get().FinishName(operation->process_set(), operation->name());
  hvdx_handle handle = 0;
  std::int32_t status = hvdx_run_for(&operation->what(), kSecondsBetweenSignals, &handle);
  if (status == HVDX_TIMEOUT) {
    status = WaitOrRemember(handle, operation);
    hvdx_release(handle);
  }
  ThrowUnlessOk(status);
}

std::vector<Tensor> RunGroup(const std::vector<OperationPtr>& operations) {
  std::exception_ptr first;
  std::vector<Tensor> results;
  for (const std::int64_t ticket : InFlight::Get().Start(operations)) {
    try {
      results.push_back(InFlight::Get().Take(ticket));
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return results;
}

std::vector<std::int32_t> RunForSplits(const OperationPtr& operation) {
  InFlight::Get().FinishName(operation->process_set(), operation->name());
  const int members = std::max(horovod_process_set_size(operation->process_set()), 0);
  std::vector<std::int32_t> splits(static_cast<std::size_t>(members));
  const hvdx_handle handle = Submit(*operation);
  const std::int32_t status = WaitOrRemember(handle, operation);
  if (status == HVDX_OK) hvdx_received_splits(handle, splits.data());
  hvdx_release(handle);
  ThrowUnlessOk(status);
  return splits;
}

InFlight& InFlight::Get() {
  static auto* in_flight = new InFlight;  // never destroyed: the engine may outlive the library
  return *in_flight;
}

std::vector<std::int64_t> InFlight::Start(const std::vector<OperationPtr>& operations) {
  for (const OperationPtr& operation : operations) {
    FinishName(operation->process_set(), operation->name());
  }
  std::vector<hvdx_handle> handles = operations.size() == 1
                                         ? std::vector<hvdx_handle>{Submit(*operations[0])}
                                         : SubmitAll(operations);
  for (std::size_t i = 0; i < handles.size(); ++i) Remember(handles[i], operations[i]);
  return handles;
}

Tensor InFlight::Take(std::int64_t ticket) {
  const OperationPtr operation = Find(ticket);
  if (operation == nullptr) {
    Throw("there is no allreduce with ticket " + std::to_string(ticket) +
          ", or it was waited for before");
  }
  const std::int32_t status = WaitHearingSignals(ticket);
  Forget(ticket, *operation);
  ThrowUnlessOk(status);
  return std::move(operation->result());
}

void InFlight::FinishName(std::int32_t process_set, const std::string& name) {
  std::int64_t ticket = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (last_ticket_.empty()) return;
    const auto it = last_ticket_.find({process_set, name});
    if (it == last_ticket_.end()) return;
    ticket = it->second;
  }
  WaitHearingSignals(ticket);  // whether it went well is for its own waiter to say
}

void InFlight::Remember(std::int64_t ticket, const OperationPtr& operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  by_ticket_.emplace(ticket, operation);
  last_ticket_[{operation->process_set(), operation->name()}] = ticket;
  most_ = std::max(most_, static_cast<std::int64_t>(by_ticket_.size()));
}

OperationPtr InFlight::Find(std::int64_t ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = by_ticket_.find(ticket);
  return it == by_ticket_.end() ? nullptr : it->second;
}

void InFlight::Forget(std::int64_t ticket, const Operation& operation) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    by_ticket_.erase(ticket);
    const auto it = last_ticket_.find({operation.process_set(), operation.name()});
    if (it != last_ticket_.end() && it->second == ticket) last_ticket_.erase(it);
  }
  hvdx_release(ticket);
}

std::pair<std::int64_t, std::int64_t> InFlight::Counts() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto now = static_cast<std::int64_t>(by_ticket_.size());
  return {now, std::exchange(most_, now)};
}

}  // namespace hvdx_torch
