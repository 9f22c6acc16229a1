// Operation: one submitted tensor, from Submit to its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/negotiation/message.h"

namespace horovodx::runtime {

// What a caller asks for. The memory belongs to the engine until `done`.
struct Submission {
  negotiation::Request request;  // request.root is a global rank here; the engine translates
  std::int32_t set = 0;
  const void* input = nullptr;
  void* output = nullptr;
  std::vector<std::int32_t> splits;  // alltoall; empty: equal shares
  // Memory for a result whose shape is known late; null: the operation keeps it.
  std::function<void*(const std::vector<std::int64_t>& shape)> allocate;
  // Exactly once, with no lock held.
  std::function<void(const Status&)> done;
};

struct Operation {
  Operation() = default;
  explicit Operation(Submission s) : what(std::move(s)) {}

  Submission what;
  std::uint64_t elements = 0;  // of the input
  TimePoint submitted;

  // Written by whoever drives the engine, read by anybody once `finished` is true.
  Status status;
  Status local_failure;  // this rank's alone: it took part for the others' sake
  std::int32_t last_joined = -1;
  std::vector<std::int32_t> received_splits;
  std::vector<std::int64_t> output_shape;
  std::unique_ptr<std::byte[]> kept;  // a result nobody gave memory for
  std::atomic<bool> finished{false};
  std::atomic<bool> waited{false};  // somebody blocks on it or polls
  bool waited_from_start = false;   // the submitter itself; set before it is submitted
};

// Shared between the caller's handle and the engine; whoever lets go last frees it.
using OperationPtr = std::shared_ptr<Operation>;

}  // namespace horovodx::runtime
