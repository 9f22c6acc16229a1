// Beginning, end, and what can be seen from outside.
#include <pybind11/stl.h>

#include <string>

#include "bindings/bind.h"
#include "horovodx/api/c_api.h"

namespace hvdx_python {

namespace py = pybind11;

void BindLife(py::module_& module) {
  module.def("version", [] { return std::string(hvdx_version()); });
  module.def("last_error", [] { return std::string(hvdx_last_error()); });
  module.def("is_initialized", [] { return horovod_is_initialized() != 0; });
  module.def(
      "counter", [](const std::string& name) { return hvdx_counter(name.c_str()); },
      py::arg("name"), "A count since init, by name; -1 for a name that is not counted.");
}

}  // namespace hvdx_python
