// A kernel that ends on a thread of its own a moment after it returned: shows, without any other
// rank, whether this TensorFlow's callbacks can be kept the way DoneCallback keeps them.
#pragma once

#include "integrations/tensorflow/tf_c_api.h"

namespace hvdx_tf {

void* CreateSelfTest(TF_OpKernelConstruction* construction);
void DestroySelfTest(void* kernel);
void ComputeSelfTest(void* kernel, TF_OpKernelContext* context, TF_AsyncOpKernelDoneCallback* done);

}  // namespace hvdx_tf
