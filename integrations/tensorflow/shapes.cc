#include "integrations/tensorflow/shapes.h"

#include <cstddef>
#include <limits>
#include <memory>

namespace hvdx_tf {
namespace {

struct DeleteHandle {
  void operator()(TF_ShapeHandle* handle) const { TF_DeleteShapeHandle(handle); }
};
using Handle = std::unique_ptr<TF_ShapeHandle, DeleteHandle>;

constexpr auto kUnknown = static_cast<std::size_t>(-1);
constexpr auto kEnd = std::numeric_limits<std::int64_t>::max();

bool Ok(const TF_Status* status) { return TF_GetCode(status) == TF_OK; }

Handle New() { return Handle(TF_NewShapeHandle()); }

bool IsScalar(TF_ShapeInferenceContext* context, const Handle& shape) {
  return TF_ShapeInferenceContextRankKnown(context, shape.get()) != 0 &&
         TF_ShapeInferenceContextRank(context, shape.get()) == 0;
}

Handle Input(TF_ShapeInferenceContext* context, int i, TF_Status* status) {
  Handle shape = New();
  TF_ShapeInferenceContextGetInput(context, i, shape.get(), status);
  return shape;
}

void SetOtherRows(TF_ShapeInferenceContext* context, int i, TF_Status* status) {
  const Handle shape = Input(context, i, status);
  if (!Ok(status)) return;
  const Handle row = New();
  const Handle result = New();
  const Handle rows(TF_ShapeInferenceContextVectorFromSize(context, kUnknown));
  // A scalar has none: the engine will refuse it.
  if (IsScalar(context, shape)) return;
  TF_ShapeInferenceContextSubshape(context, shape.get(), 1, kEnd, row.get(), status);
  if (!Ok(status)) return;
  TF_ShapeInferenceContextConcatenateShapes(context, rows.get(), row.get(), result.get(), status);
  if (Ok(status)) TF_ShapeInferenceContextSetOutput(context, i, result.get(), status);
}

}  // namespace

void SameShapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  const auto n = TF_ShapeInferenceContextNumInputs(context);
  for (int i = 0; i < n && Ok(status); ++i) {
    const Handle shape = Input(context, i, status);
    if (Ok(status)) TF_ShapeInferenceContextSetOutput(context, i, shape.get(), status);
  }
}

void OtherRows(TF_ShapeInferenceContext* context, TF_Status* status) {
  const auto n = TF_ShapeInferenceContextNumInputs(context);
  for (int i = 0; i < n && Ok(status); ++i) SetOtherRows(context, i, status);
}

void OtherRowsNoScalars(TF_ShapeInferenceContext* context, TF_Status* status) {
  const auto n = TF_ShapeInferenceContextNumInputs(context);
  for (int i = 0; i < n && Ok(status); ++i) {
    const Handle shape = Input(context, i, status);
    if (Ok(status) && IsScalar(context, shape)) {
      TF_SetStatus(status, TF_INVALID_ARGUMENT, "reducescatter does not support scalar inputs.");
    }
    if (Ok(status)) SetOtherRows(context, i, status);
  }
}

void AlltoallShapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  SetOtherRows(context, 0, status);
  if (!Ok(status)) return;
  const Handle vector(TF_ShapeInferenceContextVectorFromSize(context, kUnknown));
  TF_ShapeInferenceContextSetOutput(context, 1, vector.get(), status);
}

void ScalarShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  const Handle scalar(TF_ShapeInferenceContextScalar(context));
  TF_ShapeInferenceContextSetOutput(context, 0, scalar.get(), status);
}

}  // namespace hvdx_tf
