// What the library shows to Python by ctypes, besides its operations: settings and counts.
#pragma once

#include <cstdint>

#define HVDX_TF_EXPORT __attribute__((visibility("default")))

extern "C" {

// Not 0: kernels return when they have finished, and TensorFlow's callback is used as it comes.
// Slower, and for graphs whose collectives run one after the other only. Before the first kernel.
HVDX_TF_EXPORT void hvdx_tf_set_blocking(int blocking);

// Collectives between start and end now, and the most there were since the last call.
HVDX_TF_EXPORT int hvdx_tf_in_flight();
HVDX_TF_EXPORT int hvdx_tf_most_in_flight();

// Results that took an input's memory since the last call.
HVDX_TF_EXPORT std::int64_t hvdx_tf_forwarded();

// 1 if functions that XLA compiles can allreduce, 0 if this TensorFlow does not let us in.
HVDX_TF_EXPORT int hvdx_tf_register_xla();

// TensorFlow's callbacks that were moved to the heap, and that were used where they were.
HVDX_TF_EXPORT std::int64_t hvdx_tf_callbacks_moved();
HVDX_TF_EXPORT std::int64_t hvdx_tf_callbacks_kept();
}
