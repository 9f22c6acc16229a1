// Facts of the job as operations, asked when they run: a graph outlives a change of the world.
#pragma once

#include "integrations/tensorflow/tf_c_api.h"

namespace hvdx_tf {

using Fact = int (*)(int process_set);

void* CreateFact(TF_OpKernelConstruction* construction);       // without a process set
void* CreateFactOfSet(TF_OpKernelConstruction* construction);  // of process_set_id
void DestroyFact(void* fact);

// Of a kernel made by one of the above: they answer what the name says.
void ComputeSize(void* fact, TF_OpKernelContext* context);
void ComputeLocalSize(void* fact, TF_OpKernelContext* context);
void ComputeRank(void* fact, TF_OpKernelContext* context);
void ComputeLocalRank(void* fact, TF_OpKernelContext* context);
void ComputeIncluded(void* fact, TF_OpKernelContext* context);

}  // namespace hvdx_tf
