// From the C struct to a Submission, checking what a C caller can get wrong.
#pragma once

#include "horovodx/api/c_api.h"
#include "horovodx/base/status.h"
#include "horovodx/runtime/operation.h"

namespace horovodx::api {

Result<runtime::Submission> SubmissionFromC(const hvdx_submission* from);

}  // namespace horovodx::api
