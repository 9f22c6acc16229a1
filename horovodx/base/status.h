// What can go wrong, as a value. No exception crosses a room.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace horovodx {

// The first five are what users see (a framework turns each into its own error); the numbers are
// part of the C ABI.
enum class StatusCode : int {
  kOk = 0,
  kUnknown = 1,          // something failed while running: a peer is gone, a time limit passed
  kPrecondition = 2,     // ranks disagree about a tensor, or the engine is not initialized
  kAborted = 3,          // cannot be done, or was taken back (a removed process set)
  kInvalidArgument = 4,  // the caller's mistake, found on the caller's rank
  kCancelled = 5,        // inside the engine only: a planned bucket was dropped and will run again
};

const char* NameOf(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return {}; }
  static Status Unknown(std::string m) { return {StatusCode::kUnknown, std::move(m)}; }
  static Status Precondition(std::string m) { return {StatusCode::kPrecondition, std::move(m)}; }
  static Status Aborted(std::string m) { return {StatusCode::kAborted, std::move(m)}; }
  static Status InvalidArgument(std::string m) {
    return {StatusCode::kInvalidArgument, std::move(m)};
  }
  static Status Cancelled(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: a value is a result
  Result(Status status) : value_(std::move(status)) {}  // NOLINT: so is an error

  bool ok() const { return std::holds_alternative<T>(value_); }
  Status status() const { return ok() ? Status::Ok() : std::get<Status>(value_); }
  T& value() & { return std::get<T>(value_); }
  const T& value() const& { return std::get<T>(value_); }
  T&& value() && { return std::get<T>(std::move(value_)); }
  T* operator->() { return &std::get<T>(value_); }
  T& operator*() & { return std::get<T>(value_); }
  T&& operator*() && { return std::get<T>(std::move(value_)); }

 private:
  std::variant<T, Status> value_;
};

#define HVDX_RETURN_IF_ERROR(expression)                                        \
  do {                                                                          \
    if (auto hvdx_status = (expression); !hvdx_status.ok()) return hvdx_status; \
  } while (false)

#define HVDX_CONCAT_INNER(a, b) a##b
#define HVDX_CONCAT(a, b) HVDX_CONCAT_INNER(a, b)
// HVDX_ASSIGN_OR_RETURN(auto x, MakeX());
#define HVDX_ASSIGN_OR_RETURN(target, expression) \
  HVDX_ASSIGN_OR_RETURN_INNER(HVDX_CONCAT(hvdx_result_, __LINE__), target, expression)
#define HVDX_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                   \
  if (!result.ok()) return result.status();                     \
  target = std::move(result).value()

}  // namespace horovodx
