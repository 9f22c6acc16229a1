// Kernel: one node of a graph, as its attributes describe it. Made by TensorFlow once a node (in
// eager mode once an operation and its attributes), used by any number of executions at once.
#pragma once

#include <cstdint>
#include <string>

#include "integrations/tensorflow/tf_c_api.h"

namespace hvdx_tf {

struct Kernel {
  std::int32_t kind = 0;  // enum hvdx_kind
  bool grouped = false;
  std::string name;  // identifies the collective across ranks
  std::int32_t op = 0;
  std::int32_t process_set = 0;
  std::int32_t root = 0;
  double prescale = 1.0;
  double postscale = 1.0;
};

// Reads what a node of this kind has. TensorFlow hears of what is missing.
template <int kind, bool grouped>
void* CreateKernel(TF_OpKernelConstruction* construction);
void DestroyKernel(void* kernel);
// An execution: returns at once and runs `done` when the collective has ended.
void Compute(void* kernel, TF_OpKernelContext* context, TF_AsyncOpKernelDoneCallback* done);

// The name of the i-th of n members.
std::string MemberName(const Kernel& kernel, int i, int n);

void* ReadKernel(TF_OpKernelConstruction* construction, int kind, bool grouped);

template <int kind, bool grouped>
void* CreateKernel(TF_OpKernelConstruction* construction) {
  return ReadKernel(construction, kind, grouped);
}

}  // namespace hvdx_tf
