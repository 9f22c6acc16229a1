// Why the last failing call of this thread failed.
#pragma once

#include <string>

#include "horovodx/base/status.h"

namespace horovodx::api {

inline std::string& LastError() {
  thread_local std::string text;
  return text;
}

// Remembers the reason and returns the status's number.
inline int Remember(const Status& status) {
  LastError() = status.message();
  return static_cast<int>(status.code());
}

}  // namespace horovodx::api
