// Beginning, end, and what can be seen from outside.
#include <pybind11/stl.h>

#include <cstdint>
#include <string>

#include "bindings/bind.h"
#include "horovodx/api/c_api.h"

namespace hvdx_python {

namespace py = pybind11;

namespace {

std::string Describe(const std::string& what) {
  std::string text;
  std::int64_t size = hvdx_describe(what.c_str(), nullptr, 0);
  while (size > static_cast<std::int64_t>(text.size())) {  // it may have grown meanwhile
    text.resize(static_cast<std::size_t>(size) + 64);
    size = hvdx_describe(what.c_str(), text.data(), static_cast<std::int64_t>(text.size()));
  }
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

}  // namespace

void BindLife(py::module_& module) {
  module.def("version", [] { return std::string(hvdx_version()); });
  module.def("last_error", [] { return std::string(hvdx_last_error()); });
  module.def("is_initialized", [] { return horovod_is_initialized() != 0; });
  module.def(
      "counter", [](const std::string& name) { return hvdx_counter(name.c_str()); },
      py::arg("name"), "A count since init, by name; -1 for a name that is not counted.");
  module.def("describe", &Describe, py::arg("what"), py::call_guard<py::gil_scoped_release>(),
             "What rank 0 knows, in words; empty where nothing is known.");
}

}  // namespace hvdx_python
