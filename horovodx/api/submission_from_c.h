// From the C struct into a fresh Submission, checking what a C caller can get wrong.
#pragma once

#include "horovodx/api/c_api.h"
#include "horovodx/base/status.h"
#include "horovodx/runtime/operation.h"

namespace horovodx::api {

Status SubmissionFromC(const hvdx_submission* from, runtime::Submission& to);

}  // namespace horovodx::api
