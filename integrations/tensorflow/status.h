// Statuses: TensorFlow's, owned; and from the engine's numbers to TensorFlow's codes.
#pragma once

#include <cstdint>

#include "integrations/tensorflow/tf_c_api.h"

namespace hvdx_tf {

class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  ~Status() { TF_DeleteStatus(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  bool ok() const { return TF_GetCode(status_) == TF_OK; }
  TF_Code code() const { return TF_GetCode(status_); }
  const char* message() const { return TF_Message(status_); }
  void Set(TF_Code code, const char* message) { TF_SetStatus(status_, code, message); }
  TF_Status* get() { return status_; }

 private:
  TF_Status* status_;
};

// For an enum hvdx_status.
TF_Code CodeFor(std::int32_t status);

}  // namespace hvdx_tf
