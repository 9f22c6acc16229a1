#include "integrations/tensorflow/op_definitions.h"

#include <cstdio>
#include <vector>

#include "integrations/tensorflow/shapes.h"
#include "integrations/tensorflow/status.h"

namespace hvdx_tf {
namespace {

using Texts = std::vector<const char*>;
using ShapeFunction = void (*)(TF_ShapeInferenceContext*, TF_Status*);

constexpr const char* kReduced =
    "T: {uint8, int8, int32, int64, float16, bfloat16, float32, float64}";
constexpr const char* kScattered = "T: {int32, int64, float16, bfloat16, float32, float64}";
constexpr const char* kMoved =
    "T: {uint8, int8, uint16, int16, int32, int64, float16, bfloat16, float32, float64, bool}";
constexpr const char* kCount = "num_tensors: int >= 1";

Texts Moving(Texts more = {}) {
  Texts all = {kMoved, "ignore_name_scope: bool = false", "process_set_id: int = 0"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Texts Reducing(const char* types, Texts more = {}) {
  Texts all = {types,
               "reduce_op: int",
               "prescale_factor: float = 1.0",
               "postscale_factor: float = 1.0",
               "ignore_name_scope: bool = false",
               "process_set_id: int = 0"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// All are stateful: TensorFlow neither computes them in advance nor leaves them out.
void Define(const char* name, const Texts& attributes, const Texts& inputs, const Texts& outputs,
            ShapeFunction shapes) {
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(name);
  for (const char* each : attributes) TF_OpDefinitionBuilderAddAttr(builder, each);
  for (const char* each : inputs) TF_OpDefinitionBuilderAddInput(builder, each);
  for (const char* each : outputs) TF_OpDefinitionBuilderAddOutput(builder, each);
  TF_OpDefinitionBuilderSetIsStateful(builder, true);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, shapes);
  Status status;
  TF_RegisterOpDefinition(builder, status.get());
  if (!status.ok()) std::fprintf(stderr, "horovodx: %s: %s\n", name, status.message());
}

void DefineFact(const char* name, const Texts& attributes) {
  Define(name, attributes, {}, {"value: int32"}, ScalarShape);
}

}  // namespace

void DefineOps() {
  const Texts tensor = {"tensor: T"};
  const Texts tensors = {"tensors: num_tensors*T"};
  const Texts result = {"result: T"};
  const Texts results = {"results: num_tensors*T"};

  Define("HorovodAllreduce", Reducing(kReduced), tensor, result, SameShapes);
  Define("HorovodGroupedAllreduce", Reducing(kReduced, {kCount}), tensors, results, SameShapes);
  Define("HorovodAllgather", Moving(), tensor, result, OtherRows);
  Define("HorovodGroupedAllgather", Moving({kCount}), tensors, results, OtherRows);
  Define("HorovodBroadcast", Moving({"root_rank: int"}), tensor, result, SameShapes);
  Define("HorovodAlltoall", Moving(), {"tensor: T", "splits: int32"},
         {"result: T", "received_splits: int32"}, AlltoallShapes);
  Define("HorovodReducescatter", Reducing(kScattered), tensor, result, OtherRowsNoScalars);
  Define("HorovodGroupedReducescatter", Reducing(kScattered, {kCount}), tensors, results,
         OtherRowsNoScalars);
  Define("HorovodJoin", {}, {}, {"last_rank: int32"}, ScalarShape);

  DefineFact("HorovodSize", {"process_set_id: int = 0"});
  DefineFact("HorovodLocalSize", {});
  DefineFact("HorovodRank", {});
  DefineFact("HorovodLocalRank", {});
  DefineFact("HorovodProcessSetIncluded", {"process_set_id: int = 0"});
  DefineFact("HorovodSelfTest", {});
}

}  // namespace hvdx_tf
