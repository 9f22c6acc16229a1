// What is wrong with a submission that its own rank can see. Pure.
#pragma once

#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/runtime/operation.h"

namespace horovodx::runtime {

// Number of elements of a shape; an error for negative dimensions and for more bytes than memory
// has.
Result<std::uint64_t> CountElements(const std::vector<std::int64_t>& shape, ElementType type);

// `ranks`: the members of the process set. `rank`: this process's global rank.
Status CheckSubmission(const Submission& submission, const std::vector<int>& ranks, int rank);

// "Allreduce", "Allgather", ... as in error texts.
const char* TitleOf(negotiation::Kind kind);

}  // namespace horovodx::runtime
