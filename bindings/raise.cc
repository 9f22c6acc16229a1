#include "bindings/raise.h"

#include <pybind11/pybind11.h>

#include "horovodx/api/c_api.h"

namespace hvdx_python {

void Raise(std::int32_t status, const std::string& message) {
  if (status == HVDX_INVALID_ARGUMENT) throw pybind11::value_error(message);
  // A class of Python's, so that it can be pickled and caught without this module.
  const auto error = pybind11::module_::import("horovodx.errors").attr("HorovodInternalError");
  PyErr_SetString(error.ptr(), message.c_str());
  throw pybind11::error_already_set();
}

void RaiseLast(std::int32_t status) { Raise(status, hvdx_last_error()); }

}  // namespace hvdx_python
