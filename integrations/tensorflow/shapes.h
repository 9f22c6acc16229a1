// What is known of results' shapes while a graph is built.
#pragma once

#include "integrations/tensorflow/tf_c_api.h"

namespace hvdx_tf {

// Each output as the input of its number.
void SameShapes(TF_ShapeInferenceContext* context, TF_Status* status);
// The same but for the number of rows.
void OtherRows(TF_ShapeInferenceContext* context, TF_Status* status);
// The same, and scalars are refused.
void OtherRowsNoScalars(TF_ShapeInferenceContext* context, TF_Status* status);
// Other rows, and a vector.
void AlltoallShapes(TF_ShapeInferenceContext* context, TF_Status* status);
void ScalarShape(TF_ShapeInferenceContext* context, TF_Status* status);

}  // namespace hvdx_tf
