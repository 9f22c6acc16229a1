// Submitting: tensors come as address, type and shape.
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bind.h"
#include "bindings/raise.h"
#include "bindings/wait.h"
#include "horovodx/api/c_api.h"

namespace hvdx_python {

namespace py = pybind11;

namespace {

constexpr std::int32_t kSum = HVDX_SUM;  // a plain number, as Python has it
using Shape = std::vector<std::int64_t>;
using Address = std::uintptr_t;
using Splits = std::optional<std::vector<std::int32_t>>;

// What all tensors of a call have in common.
struct How {
  std::int32_t kind;
  std::int32_t op;
  double prescale;
  double postscale;
  std::int32_t process_set;
  std::int32_t root;
};

hvdx_submission Describe(const How& how, const std::string& name, std::int32_t type,
                         const Shape& shape, Address input, Address output) {
  hvdx_submission s{};
  s.struct_size = sizeof(s);
  s.kind = how.kind;
  s.type = type;
  s.op = how.op;
  s.process_set = how.process_set;
  s.root = how.root;
  s.device = -1;
  s.ndim = static_cast<std::int32_t>(shape.size());
  s.shape = shape.data();
  s.name = name.c_str();
  s.scaled = 1;
  s.prescale = how.prescale;
  s.postscale = how.postscale;
  s.input = reinterpret_cast<const void*>(input);
  s.output = reinterpret_cast<void*>(output);
  return s;
}

void AddSplits(hvdx_submission& s, const Splits& splits) {
  if (!splits) return;
  s.splits = splits->data();
  s.split_count = static_cast<std::int32_t>(splits->size());
}

std::int64_t HandleOrRaise(std::int64_t handle) {
  if (handle < 0) RaiseLast(static_cast<std::int32_t>(-handle));
  return handle;
}

std::int64_t Submit(std::int32_t kind, const std::string& name, std::int32_t type,
                    const Shape& shape, Address input, Address output, std::int32_t op,
                    double prescale, double postscale, std::int32_t process_set, std::int32_t root,
                    const Splits& splits) {
  hvdx_submission s = Describe({kind, op, prescale, postscale, process_set, root}, name, type,
                               shape, input, output);
  AddSplits(s, splits);
  return HandleOrRaise(hvdx_submit(&s));
}

void Run(std::int32_t kind, const std::string& name, std::int32_t type, const Shape& shape,
         Address input, Address output, std::int32_t op, double prescale, double postscale,
         std::int32_t process_set, std::int32_t root) {
  const hvdx_submission s = Describe({kind, op, prescale, postscale, process_set, root}, name, type,
                                     shape, input, output);
  RunAndHearSignals(s);
}

std::vector<std::int64_t> SubmitGroup(std::int32_t kind, const std::vector<std::string>& names,
                                      const std::vector<std::int32_t>& types,
                                      const std::vector<Shape>& shapes,
                                      const std::vector<Address>& inputs,
                                      const std::vector<Address>& outputs, std::int32_t op,
                                      double prescale, double postscale, std::int32_t process_set) {
  const std::size_t n = names.size();
  if (types.size() != n || shapes.size() != n || inputs.size() != n || outputs.size() != n) {
    throw py::value_error("submit_group: lists of different lengths");
  }
  std::vector<hvdx_submission> all;
  for (std::size_t i = 0; i < n; ++i) {
    all.push_back(Describe({kind, op, prescale, postscale, process_set, 0}, names[i], types[i],
                           shapes[i], inputs[i], outputs[i]));
  }
  std::vector<std::int64_t> handles(n);
  const int32_t status =
      hvdx_submit_group(all.data(), static_cast<std::int32_t>(n), handles.data());
  if (status != HVDX_OK) RaiseLast(status);
  return handles;
}

std::int64_t Register(std::int32_t kind, const std::string& name, std::int32_t type,
                      const Shape& shape, std::int32_t op, double prescale, double postscale,
                      std::int32_t process_set) {
  const hvdx_submission s =
      Describe({kind, op, prescale, postscale, process_set, 0}, name, type, shape, 0, 0);
  return HandleOrRaise(hvdx_register(&s));
}

std::int64_t SubmitSlot(std::int64_t slot, Address input, Address output) {
  return HandleOrRaise(hvdx_submit_slot(slot, reinterpret_cast<const void*>(input),
                                        reinterpret_cast<void*>(output)));
}

}  // namespace

void BindSubmit(py::module_& module) {
  module.def("submit", &Submit, py::arg("kind"), py::arg("name"), py::arg("type"), py::arg("shape"),
             py::arg("input"), py::arg("output"), py::arg("op") = kSum, py::arg("prescale") = 1.0,
             py::arg("postscale") = 1.0, py::arg("process_set") = 0, py::arg("root") = 0,
             py::arg("splits") = py::none(),
             "Submits one tensor and returns a handle. Its memory must stay until it has ended.");
  module.def("run", &Run, py::arg("kind"), py::arg("name"), py::arg("type"), py::arg("shape"),
             py::arg("input"), py::arg("output"), py::arg("op") = kSum, py::arg("prescale") = 1.0,
             py::arg("postscale") = 1.0, py::arg("process_set") = 0, py::arg("root") = 0,
             "Submits one tensor and waits for it.");
  module.def("submit_group", &SubmitGroup, py::arg("kind"), py::arg("names"), py::arg("types"),
             py::arg("shapes"), py::arg("inputs"), py::arg("outputs"), py::arg("op") = kSum,
             py::arg("prescale") = 1.0, py::arg("postscale") = 1.0, py::arg("process_set") = 0,
             "Submits tensors that become ready together; returns their handles.");
  module.def("register_slot", &Register, py::arg("kind"), py::arg("name"), py::arg("type"),
             py::arg("shape"), py::arg("op") = kSum, py::arg("prescale") = 1.0,
             py::arg("postscale") = 1.0, py::arg("process_set") = 0,
             "Describes a tensor once; returns a number for submit_slot, valid until shutdown.");
  module.def("submit_slot", &SubmitSlot, py::arg("slot"), py::arg("input"), py::arg("output"));
}

}  // namespace hvdx_python
