#include "horovodx/base/status.h"

namespace horovodx {

const char* NameOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kUnknown:
      return "unknown";
    case StatusCode::kPrecondition:
      return "precondition";
    case StatusCode::kAborted:
      return "aborted";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string Status::ToString() const {
  return ok() ? "ok" : std::string(NameOf(code_)) + ": " + message_;
}

}  // namespace horovodx
