// The store through which ranks find each other, as a launcher runs it.
#include <string>

#include "bindings/bind.h"
#include "bindings/raise.h"
#include "horovodx/api/c_api.h"

namespace hvdx_python {

namespace py = pybind11;

void BindRendezvous(py::module_& module) {
  module.def(
      "rendezvous_start",
      [](const std::string& address, int port, const std::string& secret,
         const std::string& job_id) {
        const int32_t result =
            hvdx_rendezvous_start(address.c_str(), port, secret.c_str(), job_id.c_str());
        if (result < 0) RaiseLast(-result);
        return result;
      },
      py::arg("address"), py::arg("port"), py::arg("secret"), py::arg("job_id"),
      "Starts the store and returns its port; `secret` is 64 hexadecimal digits.");
  module.def("rendezvous_stop", &hvdx_rendezvous_stop, py::call_guard<py::gil_scoped_release>());
}

}  // namespace hvdx_python
