#include "integrations/torch/signals.h"

#include <dlfcn.h>

#include "integrations/torch/errors.h"

namespace hvdx_torch {
namespace {

// Of whatever Python is in the process: looked up, so that one binary serves every version.
struct Python {
  int (*ensure_gil)() = nullptr;
  void (*release_gil)(int) = nullptr;
  int (*check_signals)() = nullptr;
  void (*clear_error)() = nullptr;
  void (*set_interrupt)() = nullptr;

  Python() {
    Find("PyGILState_Ensure", ensure_gil);
    Find("PyGILState_Release", release_gil);
    Find("PyErr_CheckSignals", check_signals);
    Find("PyErr_Clear", clear_error);
    Find("PyErr_SetInterrupt", set_interrupt);
  }
  bool complete() const {
    return ensure_gil && release_gil && check_signals && clear_error && set_interrupt;
  }

 private:
  template <typename Function>
  static void Find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
};

}  // namespace

void HearSignals() {
  static const Python python;
  if (!python.complete()) return;
  const int state = python.ensure_gil();
  const bool raised = python.check_signals() != 0;
  if (raised) {
    // A Python exception cannot travel through PyTorch from here: ask for it once more, later.
    python.clear_error();
    python.set_interrupt();
  }
  python.release_gil(state);
  if (raised) Throw("horovodx: interrupted while waiting for a collective");
}

}  // namespace hvdx_torch
