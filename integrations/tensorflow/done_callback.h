// DoneCallback: TensorFlow's word that an asynchronous kernel has finished, kept until it has.
//
// Up to TensorFlow 2.21 (at least) the pointer that a kernel gets points at a parameter of its
// caller: a std::function<void()> on the caller's stack, which dies when the kernel returns. So it
// is moved to the heap. That it is one is promised nowhere: where the pointer does not look like it
// (not on this stack, or without code where a std::function has code) it is taken to be
// TensorFlow's to keep, and used as it is.
#pragma once

#include <functional>
#include <memory>

#include "integrations/tensorflow/tf_c_api.h"

namespace hvdx_tf {

class DoneCallback {
 public:
  // Within the kernel's call. `moved`: it will be run after the kernel has returned.
  DoneCallback(TF_AsyncOpKernelDoneCallback* callback, bool moved);
  DoneCallback(DoneCallback&&) = default;
  DoneCallback& operator=(DoneCallback&&) = default;

  // Once. TensorFlow may delete the kernel and its context in it.
  void Run();

 private:
  TF_AsyncOpKernelDoneCallback* callback_;
  std::unique_ptr<std::function<void()>> own_;
};

}  // namespace hvdx_tf
