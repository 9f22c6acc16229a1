// From a status to a Python exception.
#pragma once

#include <cstdint>
#include <string>

namespace hvdx_python {

// Raises what Horovod raises: ValueError for the caller's mistakes, HorovodInternalError for all
// else. The GIL is held.
[[noreturn]] void Raise(std::int32_t status, const std::string& message);
// The same with the text of hvdx_last_error().
[[noreturn]] void RaiseLast(std::int32_t status);

}  // namespace hvdx_python
