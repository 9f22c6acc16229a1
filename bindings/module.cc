// _horovodx: the engine's C ABI as Python functions. They take addresses and numbers, so that no
// framework is needed to build or to load this.
#include "bindings/bind.h"

PYBIND11_MODULE(_horovodx, module) {
  module.doc() = "HorovodX's engine: see horovodx/api/c_api.h for what each function does.";
  hvdx_python::BindLife(module);
  hvdx_python::BindSubmit(module);
  hvdx_python::BindWait(module);
  hvdx_python::BindResults(module);
  hvdx_python::BindRendezvous(module);
}
