// What each bind_*.cc adds to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace hvdx_python {

void BindLife(pybind11::module_& module);
void BindSubmit(pybind11::module_& module);
void BindWait(pybind11::module_& module);
void BindResults(pybind11::module_& module);
void BindRendezvous(pybind11::module_& module);

}  // namespace hvdx_python
