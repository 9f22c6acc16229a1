// The choice of an allreduce by size, as a table: who wants to know which one runs and why. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "horovodx/collectives/select.h"

namespace horovodx::collectives {

// begin <= bytes < end. `seconds` is predicted for `begin` bytes; 0 where nothing is known.
struct SelectionRow {
  std::size_t begin = 0;
  std::size_t end = 0;
  Selected selected;
};

// From 0 bytes on, the last row without an end. Looked at twice a doubling up to 1 GiB, and at the
// limits of the user's rules.
std::vector<SelectionRow> SelectionTable(SelectInput input);

}  // namespace horovodx::collectives
