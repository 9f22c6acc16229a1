#include <pybind11/stl.h>

#include <vector>

#include "bindings/bind.h"
#include "bindings/raise.h"
#include "bindings/wait.h"

namespace hvdx_python {

namespace py = pybind11;

namespace {

// How long Ctrl-C may go unheard.
constexpr double kSecondsBetweenSignals = 0.1;

void HearSignals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// Keeps a handle until the end of a call that may raise.
class HandleGuard {
 public:
  explicit HandleGuard(std::int64_t handle) : handle_(handle) {}
  ~HandleGuard() { hvdx_release(handle_); }
  HandleGuard(const HandleGuard&) = delete;
  HandleGuard& operator=(const HandleGuard&) = delete;

 private:
  const std::int64_t handle_;
};

bool Poll(std::int64_t handle) {
  const std::int32_t done = hvdx_poll(handle);
  if (done < 0) RaiseLast(-done);
  return done == 1;
}

// All are waited for, also when one fails; then the first error is raised.
void WaitAll(const std::vector<std::int64_t>& handles) {
  std::exception_ptr first;
  for (const std::int64_t handle : handles) {
    try {
      WaitAndHearSignals(handle);
    } catch (py::error_already_set& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) throw;
      if (!first) first = std::current_exception();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void ReleaseAll(const std::vector<std::int64_t>& handles) {
  for (const std::int64_t handle : handles) hvdx_release(handle);
}

}  // namespace

void WaitAndHearSignals(std::int64_t handle) {
  while (true) {
    std::int32_t status;
    {
      py::gil_scoped_release release;
      status = hvdx_wait(handle, kSecondsBetweenSignals);
    }
    if (status == HVDX_OK) return;
    if (status != HVDX_TIMEOUT) RaiseLast(status);
    HearSignals();
  }
}

void RunAndHearSignals(const hvdx_submission& submission) {
  std::int32_t status;
  hvdx_handle handle = 0;
  {
    py::gil_scoped_release release;
    status = hvdx_run_for(&submission, kSecondsBetweenSignals, &handle);
  }
  if (status == HVDX_OK) return;
  if (status != HVDX_TIMEOUT) RaiseLast(status);
  const HandleGuard guard(handle);
  HearSignals();
  WaitAndHearSignals(handle);
}

void BindWait(py::module_& module) {
  module.def("poll", &Poll, py::arg("handle"));
  module.def("wait", &WaitAndHearSignals, py::arg("handle"));
  module.def("wait_all", &WaitAll, py::arg("handles"));
  module.def("release", &hvdx_release, py::arg("handle"));
  module.def("release_all", &ReleaseAll, py::arg("handles"));
}

}  // namespace hvdx_python
