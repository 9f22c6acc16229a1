// Results whose size is known only when they are there: memory of the engine as a Python buffer.
#include <pybind11/stl.h>

#include <cstdint>
#include <vector>

#include "bindings/bind.h"
#include "bindings/raise.h"
#include "horovodx/api/c_api.h"

namespace hvdx_python {

namespace py = pybind11;

namespace {

std::vector<std::int64_t> ShapeOf(std::int64_t handle) {
  const std::int32_t ndim = hvdx_output_ndim(handle);
  if (ndim < 0) RaiseLast(HVDX_INVALID_ARGUMENT);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(ndim));
  hvdx_output_shape(handle, shape.data());
  return shape;
}

// Owns its handle, and with it the memory, for as long as a view of it lives.
class Result {
 public:
  Result(std::int64_t handle, std::int64_t bytes) : handle_(handle), bytes_(bytes) {}
  ~Result() { hvdx_release(handle_); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  py::buffer_info Bytes() const {
    return py::buffer_info(static_cast<std::uint8_t*>(hvdx_output(handle_)), bytes_);
  }

 private:
  const std::int64_t handle_;
  const std::int64_t bytes_;
};

std::vector<std::int32_t> ReceivedSplits(std::int64_t handle, std::int32_t members) {
  std::vector<std::int32_t> splits(static_cast<std::size_t>(members));
  if (hvdx_received_splits(handle, splits.data()) < 0) RaiseLast(HVDX_INVALID_ARGUMENT);
  return splits;
}

}  // namespace

void BindResults(py::module_& module) {
  py::class_<Result>(module, "Result", py::buffer_protocol(),
                     "The bytes of a result; takes over the handle it is made from.")
      .def(py::init<std::int64_t, std::int64_t>(), py::arg("handle"), py::arg("bytes"))
      .def_buffer(&Result::Bytes);
  module.def("output_shape", &ShapeOf, py::arg("handle"));
  module.def("received_splits", &ReceivedSplits, py::arg("handle"), py::arg("members"));
  module.def("last_joined", &hvdx_last_joined, py::arg("handle"));
}

}  // namespace hvdx_python
